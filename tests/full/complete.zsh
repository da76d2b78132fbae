# Prints what zsh offers for a command line, one candidate a line: zsh -f complete.zsh SCRIPT LINE
# A zsh of its own, behind a pseudo terminal, loads the script and completes; what it would show is written down instead.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source ${(q)0:A:h}/complete_inside.zsh ${(q)1}"
zpty -r shell line '*GATE-READY*'
zpty -n -w shell "$2"$'\t'
zpty -r shell line '*GATE-BEGIN*'
zpty -r shell line '*GATE-END*'
print -r -- "${${line%%GATE-END*}//$'\r'/}"
zpty -d shell
