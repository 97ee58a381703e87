import { told } from './quoted-text.tsx'

/** The texts of the page; parts of it have a file of their own. Another language is another object of this shape. */
export const texts = {
  product: 'Plant Store',
  close: 'Close',
  cancel: 'Cancel',
  tryAgain: 'Try again',
  signIn: {
    title: 'Plant Store',
    lead: 'Sign in with the token that you were given to look after the plants.',
    token: 'Token',
    tokenHint: 'Paste it from end to end. It is kept in this tab only.',
    tokenHintKept: 'Paste it from end to end. It is kept in this browser until you sign out.',
    remember: 'Remember it in this browser',
    show: 'Show the token',
    submit: 'Sign in',
    checking: 'Checking …',
    empty: 'Paste the token first.',
    malformed: 'A token has no spaces and no letters beyond a to z. Copy it again, from end to end.',
    refused: 'The service does not know this token. It may be mistyped, expired or revoked.',
    tooNarrow: (scopes: string) =>
      `This token is valid, but may only do this: ${scopes}. The page needs one that may read plants or manage tokens.`,
    gone: 'The service does not answer. See whether it runs and whether you are connected, then try again.',
    ended: 'You were signed out: the service no longer takes your token. It has expired or was revoked.',
  },
  nav: {
    label: 'Views',
    shelf: 'Shelf',
    collection: 'Collection',
    tokens: 'Tokens',
    signOut: 'Sign out',
    skip: 'To the content',
    signedInAs: (label: string) => `Signed in: ${label}`,
    noLabel: 'token without a label',
    readOnly: 'may only read',
  },
  shelf: {
    title: 'Shelf',
    search: 'Search names',
    tag: 'Tag',
    anyTag: 'Every tag',
    mostUsed: (count: number) => `The ${count.toLocaleString('en')} most used`,
    anotherTag: 'Another tag …',
    anotherTitle: 'Another tag',
    anotherHint: (count: number) =>
      `The list has the ${count.toLocaleString('en')} most used tags. Type another one just as the plants have it.`,
    showTag: 'Show its plants',
    tagMissing: 'Type the tag. The empty tag is in the list, as “(empty tag)”.',
    jump: 'Jump to id',
    jumpHint: 'Id …',
    jumpGo: 'Go',
    jumpWrong: 'An id is a whole number from −9223372036854775808 to 9223372036854775807.',
    add: 'Add a plant',
    list: 'Plants',
    id: 'Id',
    name: 'Name',
    changed: 'Changed',
    loading: 'Loading …',
    empty: 'There is no plant yet.',
    emptyHint: 'Add the first one here, or bring a list of them as a file.',
    emptyReader: 'Your token may look, but not add any.',
    addFirst: 'Add the first plant',
    bringFile: 'Bring a file',
    noMatch: 'No plant matches.',
    clear: 'Show every plant',
    nameless: '(no name)',
    count: (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'plant' : 'plants'}`,
    countMore: (count: number) => `At least ${texts.shelf.count(count)}`,
    atId: (id: bigint) => `At id ${id}.`,
    notThere: (id: bigint) => `There is no plant with the id ${id}. The list stands where it would be.`,
  },
  printed: {
    which: (first: bigint | undefined, last: bigint | undefined) =>
      `Plants from id ${first} to id ${last}, as they stood on the page. An export holds all.`,
    search: (q: string) => told` Only names that hold “${q}”.`,
    tag: (tag: string) => told` Only the tag “${tag}”.`,
  },
  export: {
    open: 'Export',
    title: 'Export plants',
    which: (q: string, tag: string | undefined) => {
      if (q === '' && tag === undefined) return 'All plants are saved as a file, as they are at this moment.'
      if (tag === undefined) {
        return told`The plants whose names hold “${q}” are saved as a file, as they are at this moment.`
      }
      if (q === '') return told`The plants tagged “${tag}” are saved as a file, as they are at this moment.`
      return told`The plants tagged “${tag}” whose names hold “${q}” are saved as a file, as they are at this moment.`
    },
    format: 'As',
    formats: {
      csv: 'CSV, for spreadsheets (import its columns as text: names may look like formulas)',
      ndjson: 'NDJSON, for programs',
    },
    save: 'Save the file',
    saving: 'Saving …',
    progress: (bytes: number) => `${texts.export.size(bytes)} so far`,
    done: (bytes: number) => `Saved: ${texts.export.size(bytes)}.`,
    size: (bytes: number) =>
      bytes < 1e6
        ? `${Math.ceil(bytes / 1e3).toLocaleString('en')} kB`
        : `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`,
  },
  import: {
    open: 'Import',
    oneFile: 'Drop one file at a time, and no folder.',
    notLoaded: 'The import could not be loaded. Load the page again.',
  },
  collection: {
    title: 'The collection',
  },
  additions: {
    title: 'Added over time',
    counting: 'Counting …',
    empty: 'There is no plant yet. Those that are added on the shelf are counted here.',
    sum: (count: number, per: string) => `${texts.shelf.count(count)}, ${per}`,
    perUnit: { day: 'by the day', week: 'by the week', month: 'by the month', year: 'by the year' },
    told: (period: string, count: number) => `${period}: ${count === 0 ? 'none' : texts.shelf.count(count)}`,
    choose: 'Look at a bar',
    countedAt: (moment: string) => `Counted ${moment}. Days begin at midnight UTC.`,
    numbers: 'The numbers',
    units: { day: 'Day', week: 'Week', month: 'Month', year: 'Year' },
    plants: 'Plants',
  },
  tags: {
    title: 'By tag',
    lead: 'Choose a tag to see its plants.',
    tag: 'Tag',
    plants: 'Plants',
    more: (count: number) => `The ${count} most used tags are shown.`,
    empty: 'No plant has a tag yet.',
    emptyTag: '(empty tag)',
  },
  footer: {
    engine: { sqlite: 'SQLite', postgres: 'PostgreSQL' },
    ready: 'ready',
    notReady: 'does not answer',
    storageGone: 'its storage does not answer',
    shuttingDown: 'shutting down',
    unknown: 'asking …',
    reference: 'API reference',
    document: 'OpenAPI',
  },
  failure: {
    connection: 'The service does not answer. See whether it runs and whether you are connected.',
    timeout: 'The service took too long to answer.',
    response: 'Something other than the service answered, a proxy maybe.',
    mayBeDone: 'It is not known whether it was done.',
    scope: 'Your token may not do this.',
    signedOut: 'It was not done: your token is no longer taken.',
    again: (seconds: number) => `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    unexpected: 'Something went wrong on this page. Load it again.',
  },
}
