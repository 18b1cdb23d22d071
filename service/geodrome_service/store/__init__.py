"""The only room that speaks SQL: functions that take a session and never commit."""
