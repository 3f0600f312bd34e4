"""What terminal and pages say first: verdicts in sentences, and which measures people see."""
