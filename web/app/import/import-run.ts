import type {
  ImportReport,
  ImportRowError,
  PlantStoreClient,
} from '../../../src/client/plant-store-client.ts'
import { isWide } from '../../../src/plants/import/table-dialect.ts'
import { createFailedRows } from './failed-rows.ts'
import { type ImportSettings, importOptions, isNumbered } from './import-settings.ts'
import { type ImportSource, readSource } from './import-source.ts'
import { type RowSlice, sliceRows } from './row-slices.ts'
import { createSliceSender, mayPass } from './slice-sender.ts'

export interface RunImportOptions {
  client: PlantStoreClient
  source: ImportSource
  settings: ImportSettings
  /** Whether nothing is stored, and only told what would be. */
  dryRun?: boolean
  onChange(told: ImportAnnouncement): void
}

/** How far an import is. */
export interface ImportAnnouncement extends Omit<ImportReport, 'errors'> {
  /** How much of the file is settled; where its text has another length, about that. */
  bytes: number
  /** Every row before this line is stored, or was refused. */
  nextLine: number
  /** Whether the service is too busy, and gets a moment. */
  isWaiting: boolean
  /** Whether some rows had to be sent twice, so that those stored the first time were taken the second. */
  isSentTwice: boolean
  /** The first rows that were refused. */
  errors: readonly ImportRowError[]
}

export interface ImportEnd {
  is: 'done' | 'stopped' | 'failed'
  /** Whether rows from `nextLine` on may be stored. */
  isUncertain: boolean
  /** Whether it can go on from where it is. */
  mayGoOn: boolean
  error?: unknown
}

/** An import that goes slice by slice, each a request: browsers tell nothing of a request before all of it is sent. */
export interface ImportRun {
  /** Goes on until the end, or until it is stopped or fails; once more, it goes on from there. */
  go(): Promise<ImportEnd>
  /** Ends it behind the slice that is under way. */
  stop(): void
  /** Ends it for good, at once. */
  abort(): void
  refusedFile(): Blob
}

/** Before anything was sent. */
export const NOTHING_ANNOUNCED: ImportAnnouncement = {
  ...{ created: 0, replaced: 0, skipped: 0, failed: 0, errors: [] },
  ...{ bytes: 0, nextLine: 1, isWaiting: false, isSentTwice: false },
}

/** As many refused rows are shown. */
const SHOWN_ERRORS_MAX = 20
/** A stop waits so long for the answer that is on its way. */
const STOP_MS = 3_000

export function createImportRun(parts: RunImportOptions): ImportRun {
  const { client, source, settings, dryRun, onChange } = parts
  const { format } = source
  const { encoding, hasHeader } = settings
  const refused = createFailedRows(isNumbered(format, settings), isWide(encoding))
  let told = NOTHING_ANNOUNCED
  let fileBytes = 0
  let controller = new AbortController()
  let isStopped = false
  /** What was read, and is not settled. */
  let pending: { slice: RowSlice; bytes: number } | undefined
  const text = readSource(source, encoding, (count) => {
    fileBytes = count
  })
  const slices = sliceRows(text, { format, hasHeader, onStart: refused.begin })
  const sender = createSliceSender({
    client,
    options: { ...importOptions(format, settings), dryRun },
    onSentTwice: () => tell({ isSentTwice: true }),
    onWaiting: () => tell({ isWaiting: true }),
  })

  function tell(change: Partial<ImportAnnouncement>): void {
    told = { ...told, ...change }
    onChange(told)
  }

  /** Where in the file a slice ends; of a text of another length it can only be guessed. */
  function fileBytesTo({ endBytes, readBytes }: RowSlice): number {
    if (!source.isGzip && !isWide(encoding)) return endBytes
    return Math.max(told.bytes, Math.round((fileBytes * endBytes) / readBytes))
  }

  async function settle({ slice, bytes }: { slice: RowSlice; bytes: number }): Promise<void> {
    const report = await sender.send(slice, controller.signal)
    refused.take(slice, report.errors)
    const errors = [...told.errors, ...report.errors].slice(0, SHOWN_ERRORS_MAX)
    tell({ ...added(told, report), errors, nextLine: slice.nextLine, bytes, isWaiting: false })
  }

  async function goThrough(): Promise<ImportEnd['is']> {
    for (;;) {
      if (pending === undefined) {
        const { done, value } = await slices.next()
        if (done) return 'done'
        pending = { slice: value, bytes: fileBytesTo(value) }
      }
      if (isStopped) return 'stopped'
      await settle(pending)
      pending = undefined
    }
  }

  return {
    async go() {
      controller = new AbortController()
      isStopped = false
      try {
        const is = await goThrough()
        return { is, isUncertain: sender.isUncertain, mayGoOn: is === 'stopped' }
      } catch (error) {
        tell({ isWaiting: false })
        const { isUncertain } = sender
        if (controller.signal.aborted) return { is: 'stopped', isUncertain, mayGoOn: true }
        // Without rows that wait to be sent, it was the file that failed.
        return { is: 'failed', isUncertain, mayGoOn: pending !== undefined && mayPass(error), error }
      }
    },
    stop() {
      isStopped = true
      const stopped = controller
      if (told.isWaiting) stopped.abort()
      else setTimeout(() => stopped.abort(), STOP_MS)
    },
    abort() {
      isStopped = true
      controller.abort()
      slices.return().catch(() => undefined)
    },
    refusedFile: () => refused.file(),
  }
}

type Counts = Pick<ImportReport, 'created' | 'replaced' | 'skipped' | 'failed'>

function added(one: Counts, other: Counts): Counts {
  return {
    created: one.created + other.created,
    replaced: one.replaced + other.replaced,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
  }
}
