"""What earlier data sets say about a new one: ranking configurations from experience (van Hoof 2018, chapter 6)."""
