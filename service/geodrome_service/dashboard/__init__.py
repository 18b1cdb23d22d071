"""The dashboard: pages for people, made of what the API answers with and of the figures that the SDK has, too."""
