/**
 * The cells of the first rows of a table (RFC 4180), for people to look at: what is really stored the service reads.
 * Blank lines are passed over. Where the text is cut off, its last row is not whole and is left out.
 */
export function readCells(text: string, rowsMax: number, isWhole: boolean): string[][] {
  const rows: string[][] = []
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  let at = 0
  function endRow(): void {
    if (cells.length > 0 || cell !== '') rows.push([...cells, cell])
    cells = []
    cell = ''
  }
  for (; at < text.length && rows.length < rowsMax; at++) {
    const character = text.charAt(at)
    if (isQuoted && character === '"') {
      if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (isQuoted) cell += character
    else if (character === '"' && (at === 0 || /[,\r\n]/.test(text.charAt(at - 1)))) isQuoted = true
    else if (character === ',') {
      cells.push(cell)
      cell = ''
    } else if (character === '\n' || character === '\r') endRow()
    else cell += character
  }
  if (isWhole && rows.length < rowsMax) endRow()
  return rows
}
