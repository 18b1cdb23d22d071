"""geodrome_core"""
