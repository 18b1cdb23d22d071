"""geodrome_robots"""
