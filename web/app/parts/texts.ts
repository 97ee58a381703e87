import { quotedText } from './quoted-text.tsx'

/** The texts of the page; parts of it have a file of their own. Another language is another object of this shape. */
export const texts = {
  product: 'Plant Store',
  close: 'Close',
  cancel: 'Cancel',
  tryAgain: 'Try again',
  signIn: {
    title: 'Plant Store',
    lead: 'Sign in with the token you were given for this plant store.',
    token: 'Token',
    tokenHint: 'Paste the whole token. It is stored in this tab only.',
    tokenHintKept: 'Paste the whole token. It is stored in this browser until you sign out.',
    remember: 'Remember it in this browser',
    show: 'Show the token',
    submit: 'Sign in',
    checking: 'Checking …',
    empty: 'Paste the token first.',
    malformed: 'A token has no spaces or special letters. Copy the whole token again.',
    refused: 'This token is not valid. It may be mistyped, expired or revoked.',
    tooNarrow: (scopes: string) =>
      `This token is valid, but it can only ${scopes}. The web app needs a token that can read plants or manage tokens.`,
    gone: "Can't reach the server. Check your connection and try again.",
    ended: 'You were signed out: your token has expired or was revoked.',
  },
  nav: {
    label: 'Views',
    plants: 'Plants',
    collection: 'Collection',
    tokens: 'Tokens',
    signOut: 'Sign out',
    skip: 'Skip to content',
    signedInAs: (label: string) => `Signed in as ${label}`,
    noLabel: 'unnamed token',
    readOnly: 'read-only',
  },
  plants: {
    title: 'Plants',
    search: 'Search names',
    tag: 'Tag',
    anyTag: 'All tags',
    mostUsed: (count: number) => `${count.toLocaleString('en')} most used tags`,
    anotherTag: 'Another tag …',
    anotherTitle: 'Another tag',
    anotherHint: (count: number) =>
      `The list shows the ${count.toLocaleString('en')} most used tags. Type any other tag exactly as it is written on the plants.`,
    showTag: 'Show plants',
    tagMissing: 'Type a tag. To find plants with an empty tag, choose “(empty tag)” in the list.',
    jump: 'Go to id',
    jumpHint: 'Id …',
    jumpGo: 'Go',
    jumpWrong: 'An id is a whole number between −9223372036854775808 and 9223372036854775807.',
    add: 'Add a plant',
    list: 'Plants',
    id: 'Id',
    name: 'Name',
    changed: 'Updated',
    loading: 'Loading …',
    empty: 'No plants yet.',
    emptyHint: 'Add your first plant, or import a list from a file.',
    emptyReader: 'Your token can read plants but not add them.',
    addFirst: 'Add your first plant',
    bringFile: 'Import a file',
    noMatch: 'No plants match.',
    clear: 'Show all plants',
    nameless: '(no name)',
    count: (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'plant' : 'plants'}`,
    countMore: (count: number) => `At least ${texts.plants.count(count)}`,
    atId: (id: bigint) => `At id ${id}.`,
    notThere: (id: bigint) => `There is no plant with id ${id}. The list shows the plants around it.`,
  },
  printed: {
    which: (first: bigint | undefined, last: bigint | undefined) =>
      `Plants from id ${first} to id ${last}, as shown in the web app. Export a file to get all plants.`,
    search: (q: string) => quotedText` Only names with “${q}”.`,
    tag: (tag: string) => quotedText` Only the tag “${tag}”.`,
  },
  export: {
    open: 'Export',
    title: 'Export plants',
    which: (q: string, tag: string | undefined) => {
      if (q === '' && tag === undefined) return 'Saves all plants to a file, as they are now.'
      if (tag === undefined) {
        return quotedText`Saves all plants with “${q}” in their name to a file, as they are now.`
      }
      if (q === '') return quotedText`Saves all plants tagged “${tag}” to a file, as they are now.`
      return quotedText`Saves all plants tagged “${tag}” with “${q}” in their name to a file, as they are now.`
    },
    format: 'Format',
    formats: {
      csv: 'CSV, for spreadsheets (open the columns as text, so that no name runs as a formula)',
      ndjson: 'NDJSON, for programs',
    },
    save: 'Save file',
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
    oneFile: 'Drop one file at a time, not a folder.',
    notLoaded: 'Import could not be loaded. Reload the web app.',
  },
  collection: {
    title: 'Collection',
  },
  additions: {
    title: 'Added over time',
    counting: 'Counting …',
    empty: 'No plants yet. Plants you add are counted here.',
    sum: (count: number, per: string) => `${texts.plants.count(count)}, ${per}`,
    perUnit: { day: 'per day', week: 'per week', month: 'per month', year: 'per year' },
    told: (period: string, count: number) => `${period}: ${count === 0 ? 'none' : texts.plants.count(count)}`,
    choose: 'Choose a bar',
    countedAt: (moment: string) => `Counted ${moment}. Days begin at midnight UTC.`,
    numbers: 'Numbers',
    units: { day: 'Day', week: 'Week', month: 'Month', year: 'Year' },
    plants: 'Plants',
  },
  tags: {
    title: 'By tag',
    lead: 'Choose a tag to see its plants.',
    tag: 'Tag',
    plants: 'Plants',
    more: (count: number) => `Shows the ${count} most used tags.`,
    empty: 'No tags yet.',
    emptyTag: '(empty tag)',
  },
  footer: {
    engine: { sqlite: 'SQLite', postgres: 'PostgreSQL' },
    ready: 'ready',
    notReady: 'not ready',
    storageGone: 'database unavailable',
    shuttingDown: 'shutting down',
    unknown: 'checking …',
    reference: 'API reference',
    document: 'OpenAPI',
  },
  failure: {
    connection: "Can't reach the server. Check your connection.",
    timeout: 'The server took too long to respond.',
    response: 'An unexpected response arrived, perhaps from a proxy. Try again later.',
    mayBeDone: 'Your change may or may not have been saved.',
    scope: 'Your token does not allow this.',
    signedOut: 'Nothing was saved: your token has expired or was revoked.',
    again: (seconds: number) => `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    unexpected: 'Something went wrong. Reload the web app.',
  },
}
