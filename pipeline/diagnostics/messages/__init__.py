"""What diagnostics say, in Japanese and English: templates whose blanks are a finding's arguments (O3)."""
