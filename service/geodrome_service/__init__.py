"""geodrome_service"""
