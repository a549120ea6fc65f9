"""What scores of attempts say about agents: intervals, comparisons, boards, plans."""
