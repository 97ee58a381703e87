const whole = (count: number) => count.toLocaleString('en')
const rows = (count: number) => `${whole(count)} ${count === 1 ? 'row' : 'rows'}`

interface Counts {
  created: number
  replaced: number
  skipped: number
  failed: number
}

/** The texts of the import, which are loaded with it. */
export const importTexts = {
  title: 'Import plants',
  choose: 'A file of plants',
  chooseHint:
    'CSV or NDJSON, also compressed (.gz). You may drop it on the plants as well. Nothing is stored before you say so.',
  opening: 'Looking at it …',
  another: 'Another file',
  notText: 'This is no text. Save a spreadsheet as CSV (UTF-8) first.',
  empty: 'There is nothing in this file.',
  packedBadly:
    'The file is compressed, but cannot be decompressed to its end: it is broken or cut off, or made of several ones, which browsers do not read. Decompress it first.',
  unreadable: 'The file cannot be read any more: it was moved or changed.',
  semicolons:
    'Its cells seem to be parted by semicolons. Commas are needed: save it again with commas between the cells.',
  preview: 'The first rows',
  header: 'The first row names the columns',
  column: (at: number, name: string) => `Column ${at}${name === '' ? '' : `, ${name}`}`,
  roles: { id: 'Id', name: 'Name', tag: 'Tag', '': 'ignored' },
  moreColumns: (count: number) => `${whole(count)} more columns are ignored.`,
  encoding: 'Encoding',
  endlessRow: (line: number) =>
    `The row that begins on line ${whole(line)} has no end: a quotation mark in it is never closed, or this is no file of plants.`,
  encodingHint: 'Right when the names above look right.',
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
  idStart: 'Number the rows from',
  idStartHint: 'No column holds ids: each row gets the next number.',
  problems: {
    nameMissing: 'Choose the column that holds the names.',
    twice: 'Two columns hold the same. Choose one for each.',
    idStartWrong: 'Give the first row a number, a whole one of 64 bits.',
  },
  conflict: 'A row whose id is taken',
  conflicts: {
    fail: 'is refused',
    skip: 'is passed over, the stored plant is kept',
    replace: 'replaces the stored plant',
  },
  check: 'Check first',
  import: 'Import',
  checking: 'Checking; nothing is stored …',
  checkShare: (share: number) => `${Math.floor(share * 100)} % of the file sent`,
  checked: (counts: Counts) => `Checked; nothing is stored. ${importTexts.wouldBe(counts)}`,
  checkedInParts: 'Ids that come twice in the file are found only when it is imported.',
  wouldBe: ({ created, replaced, skipped, failed }: Counts) =>
    `Of ${rows(created + replaced + skipped + failed)}, ${importTexts.each({
      'would be added': created,
      'would replace a plant': replaced,
      'would be passed over': skipped,
      'would be refused': failed,
    })}.`,
  each(counts: Record<string, number>): string {
    const told = Object.entries(counts).filter(([, count], at) => at === 0 || count > 0)
    return told.map(([what, count]) => `${whole(count)} ${what}`).join(', ')
  },
  importing: 'Importing …',
  progress: (done: number, perSecond: number | undefined, failed: number) =>
    [
      rows(done),
      perSecond === undefined ? [] : `${whole(perSecond)} a second`,
      failed === 0 ? [] : `${whole(failed)} refused`,
    ]
      .flat()
      .join(' · '),
  bytes: (bytes: number, total: number) => `${importTexts.size(bytes)} of ${importTexts.size(total)}`,
  size: (bytes: number) =>
    bytes < 1e6
      ? `${whole(Math.ceil(bytes / 1e3))} kB`
      : `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`,
  quarter: (quarter: number) => (quarter === 0 ? 'The import has begun.' : `${quarter * 25} % is imported.`),
  waiting: 'The service is busy. It goes on in a moment …',
  stopping: 'Stopping …',
  done: 'Everything is imported.',
  doneButRefused: 'Everything is imported but for the refused rows.',
  stopped: 'Stopped.',
  failed: 'It could not go on.',
  counts: ({ created, replaced, skipped, failed }: Counts) =>
    `${importTexts.each({
      added: created,
      replaced,
      'passed over': skipped,
      refused: failed,
    })}.`,
  /** A line from which on nothing is known, or nothing was done. */
  howFar: (line: number, isUncertain: boolean) =>
    line === 1
      ? isUncertain
        ? 'Some of the first rows may be stored.'
        : 'Nothing is stored.'
      : `Every row before line ${whole(line)} is stored or was refused; ${isUncertain ? 'some from there on may be stored.' : 'none from there on is stored.'}`,
  sentTwice:
    'Some rows were sent twice, as the first answer was lost: those stored the first time count as passed over or replaced.',
  goOn: 'Go on',
  goOnHint: 'Going on stores nothing twice.',
  refused: 'Refused rows',
  refusedRow: (line: number, id: bigint | undefined) =>
    id === undefined ? `Line ${whole(line)}` : `Line ${whole(line)}, id ${id}`,
  refusedMore: (count: number) => `And ${whole(count)} more.`,
  saveRefused: 'Save the refused rows',
  saveRefusedHint: 'They can be saved as they stand in the file: mend them there, and import that.',
  saveRefusedHintWide:
    'They can be saved in a file of their own, in UTF-8: mend them there, and import that.',
  numbersEnded: 'the numbers have come to an end with 9223372036854775807, the last id that there is',
  gone: 'The service does not answer.',
  onlyChecked: 'Nothing is stored.',
  atLine: (line: number, text: string) => `Line ${whole(line)}: ${text}`,
  notUtf8: 'The row is not valid UTF-8: choose another encoding.',
}
