import { texts } from '../parts/texts.ts'

const whole = (count: number) => count.toLocaleString('en')
const rows = (count: number) => `${whole(count)} ${count === 1 ? 'row' : 'rows'}`

/** More line numbers would not help. */
const LINES_NAMED_MAX = 5

interface Counts {
  created: number
  replaced: number
  skipped: number
  failed: number
}

/** The texts of this room, which are loaded with it. */
export const importTexts = {
  title: 'Import plants',
  choose: 'File to import',
  chooseHint:
    'CSV (commas, semicolons or tabs), JSON or NDJSON, also compressed (.gz). You can also drop a file on the list of plants. You see a preview first.',
  opening: 'Reading the file …',
  another: 'Choose another file',
  notText: 'This is not a text file. Save the spreadsheet as CSV (UTF-8), then choose that file.',
  empty: 'This file is empty. Choose another file.',
  badGzip:
    'This compressed file cannot be decompressed: it is damaged, incomplete or made of several files. Decompress it first, then import the result.',
  unreadable: 'The file can no longer be read: it was moved or changed. Choose it again.',
  preview: 'First rows',
  header: 'The first row names the columns',
  column: (at: number, name: string) => `Column ${at}${name === '' ? '' : `, ${name}`}`,
  roles: { id: 'Id', name: 'Name', tag: 'Tag', '': 'ignored' },
  moreColumns: (count: number) =>
    count === 1 ? '1 more column is ignored.' : `${whole(count)} more columns are ignored.`,
  delimiter: 'Columns separated by',
  delimiterHint: 'Choose another one if the columns look wrong above.',
  delimiters: { ',': 'Commas', ';': 'Semicolons', '\t': 'Tabs' },
  encoding: 'Encoding',
  endlessRow: (line: number) =>
    `The row that starts on line ${whole(line)} has no end. Look for a quotation mark that is not closed.`,
  encodingHint: 'Choose another one if letters look wrong above.',
  encodings: {
    'utf-8': 'UTF-8',
    'windows-1252': 'Windows, Western (1252)',
    'windows-1250': 'Windows, Central European (1250)',
    'windows-1251': 'Windows, Cyrillic (1251)',
    'windows-1253': 'Windows, Greek (1253)',
    'windows-1254': 'Windows, Turkish (1254)',
    'utf-16le': 'UTF-16',
    'utf-16be': 'UTF-16, big-endian',
  },
  idStart: 'First id',
  idStartHint: 'No column contains ids. The rows get consecutive ids from this one.',
  problems: {
    nameMissing: 'Choose the column that contains the names.',
    twice: 'Two columns are set to the same field. Change one of them.',
    idStartWrong: texts.idInvalid,
    notIds: 'The column of ids contains no whole numbers. Set it to “ignored”, and the rows get new ids.',
    notPlants: 'These are not plants: each needs an id and a name, such as {"id":1,"name":"Rosa"}.',
  },
  conflict: 'If an id is already used',
  conflicts: {
    fail: 'Report the row as failed',
    skip: 'Skip the row',
    replace: 'Replace the stored plant',
  },
  check: 'Check first',
  import: 'Import',
  checking: 'Checking. Nothing is imported yet …',
  checkShare: (share: number) => `${Math.floor(share * 100)} % of the file sent`,
  checked: (counts: Counts) => `Checked. Nothing is imported yet. ${importTexts.wouldBe(counts)}`,
  checkedInSlices: 'Ids that repeat within the file are found only during the import.',
  wouldBe: ({ created, replaced, skipped, failed }: Counts) =>
    `Of ${rows(created + replaced + skipped + failed)}, ${importTexts.each({
      'would be added': created,
      'would replace a plant': replaced,
      'would be skipped': skipped,
      'would fail': failed,
    })}.`,
  each(counts: Record<string, number>): string {
    const shown = Object.entries(counts).filter(([, count], at) => at === 0 || count > 0)
    return shown.map(([what, count]) => `${whole(count)} ${what}`).join(', ')
  },
  importing: 'Importing …',
  progress: (done: number, perSecond: number | undefined, failed: number) =>
    [
      rows(done),
      perSecond === undefined ? [] : `${whole(perSecond)} per second`,
      failed === 0 ? [] : `${whole(failed)} failed`,
    ]
      .flat()
      .join(' · '),
  bytes: (bytes: number, total: number) => `${importTexts.size(bytes)} of ${importTexts.size(total)}`,
  size: texts.export.size,
  quarter: (quarter: number) => (quarter === 0 ? 'The import has started.' : `${quarter * 25} % imported.`),
  waiting: 'The server is busy. The import continues in a moment …',
  stopping: 'Stopping …',
  done: 'Import complete.',
  doneButFailed: 'Import complete, except for the failed rows.',
  allFailed: 'No row could be imported.',
  stopped: 'Import stopped.',
  failed: 'The import failed.',
  counts: ({ created, replaced, skipped, failed }: Counts) =>
    `${importTexts.each({ added: created, replaced, skipped, failed })}.`,
  /** `line`: the first row that was not processed, or whose outcome is unknown. */
  howFar: (line: number, isUncertain: boolean) =>
    line === 1
      ? isUncertain
        ? 'Some of the first rows may have been imported.'
        : 'Nothing was imported.'
      : `All rows before line ${whole(line)} were processed. ${isUncertain ? 'Some rows from there on may have been imported.' : 'No row from there on was imported.'}`,
  sentTwice:
    'The connection was lost, so some rows were sent twice. Rows imported the first time count as skipped or replaced.',
  resume: 'Resume',
  resumeHint: 'Resume to continue from there. No plant is added twice.',
  failedRows: 'Failed rows',
  failedLines(failed: readonly { line: number; id?: bigint | undefined }[]): string {
    const [{ line = 0, id } = {}, ...others] = failed
    if (others.length === 0) return id === undefined ? `Line ${whole(line)}` : `Line ${whole(line)}, id ${id}`
    const lines = failed.slice(0, LINES_NAMED_MAX).map((row) => whole(row.line))
    const more = failed.length > LINES_NAMED_MAX ? ' …' : ''
    return `${rows(failed.length)}, on lines ${lines.join(', ')}${more}`
  },
  notJson: 'This is not a plant in JSON, such as {"id":1,"name":"Rosa"}.',
  missing: { id: 'The id is missing.', name: 'The name is missing.' },
  idWrong: 'The id must be a whole number, such as 42.',
  failedMore: (count: number) => `And ${whole(count)} more.`,
  saveFailed: 'Save the failed rows',
  saveFailedHint: 'Save the failed rows to a file, correct them there, then import that file.',
  saveFailedHintWide:
    'Save the failed rows to a file (UTF-8, with commas), correct them there, then import that file.',
  noIdLeft: 'No id is left for this row: the greatest one is 9223372036854775807. Choose a smaller first id.',
  onlyChecked: 'Nothing was imported.',
  atLine: (line: number, text: string) => `Line ${whole(line)}: ${text}`,
  notUtf8: 'This row does not fit the encoding. Choose another one.',
}
