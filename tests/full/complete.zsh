# Prints what zsh offers for command lines, one candidate a line, and GATE-END: zsh -f complete.zsh SCRIPT LINE...
# A zsh of its own, behind a pseudo terminal, loads the script and completes; what it would show is written down instead.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source ${(q)0:A:h}/complete_inside.zsh ${(q)1}"
zpty -r shell shown '*GATE-READY*'
for line in "${@:2}"; do
  zpty -n -w shell "$line"$'\t'
  zpty -r shell shown '*GATE-BEGIN*'
  zpty -r shell shown '*GATE-END*'
  print -r -- "${${shown%%GATE-END*}//$'\r'/}"
  print GATE-END
done
zpty -d shell
