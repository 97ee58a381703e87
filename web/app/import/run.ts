import type {
  ImportReport,
  ImportRowError,
  PlantStoreClient,
} from '../../../src/client/plant-store-client.ts'
import { createFailedRows } from './failed-rows.ts'
import { type RowSlice, sliceRows } from './row-slices.ts'
import { type ImportSettings, isNumbered, optionsOf } from './settings.ts'
import { createSliceSender, isTemporary } from './slice-sender.ts'
import { type ImportSource, isConverted, readSource } from './source.ts'

export interface RunImportOptions {
  client: PlantStoreClient
  source: ImportSource
  settings: ImportSettings
  /** Whether rows are only checked. */
  dryRun?: boolean
  onChange(status: ImportStatus): void
}

/** The progress of an import, and its counts so far. */
export interface ImportStatus extends Omit<ImportReport, 'errors'> {
  /** Bytes of the file that were processed; estimated if the text is decompressed or converted. */
  bytes: number
  /** All rows before this line were processed. */
  nextLine: number
  /** Whether the service is busy, so that the import waits for a retry. */
  isWaiting: boolean
  /** Whether rows were sent twice: those stored the first time count as skipped or replaced. */
  isSentTwice: boolean
  /** The first failed rows. */
  errors: readonly ImportRowError[]
}

export interface ImportEnd {
  is: 'done' | 'stopped' | 'failed'
  /** Whether rows from `nextLine` on may have been stored. */
  isUncertain: boolean
  /** Whether the import can be resumed. */
  canResume: boolean
  error?: unknown
}

/** An import in slices, a request each: browsers show no response before the whole body is sent. */
export interface ImportRun {
  /** Starts or resumes the import. Resolves when it is complete, stopped or failed. */
  resume(): Promise<ImportEnd>
  /** Stops after the running slice. */
  stop(): void
  /** Stops at once. The import cannot be resumed. */
  abort(): void
  failedRowsFile(): Blob
}

/** The status before the first slice. */
export const INITIAL_STATUS: ImportStatus = {
  ...{ created: 0, replaced: 0, skipped: 0, failed: 0, errors: [] },
  ...{ bytes: 0, nextLine: 1, isWaiting: false, isSentTwice: false },
}

/** The number of failed rows whose reasons are shown. */
const SHOWN_ERRORS_MAX = 1_000
/** stop() waits this long for the running slice, then aborts it. */
const STOP_MS = 3_000

export function createImportRun(options: RunImportOptions): ImportRun {
  const { client, source, settings, dryRun, onChange } = options
  const { format } = source
  const { hasHeader } = settings
  const failedRows = createFailedRows(
    isNumbered(format, settings),
    isConverted(source, settings) && !source.isArray,
  )
  let status = INITIAL_STATUS
  let fileBytes = 0
  let controller = new AbortController()
  let isStopped = false
  /** A slice that was read and not processed. */
  let pending: { slice: RowSlice; bytes: number } | undefined
  const text = readSource(source, settings, (count) => {
    fileBytes = count
  })
  const slices = sliceRows(text, { format, hasHeader, onStart: failedRows.begin })
  const sender = createSliceSender({
    client,
    options: { ...optionsOf(source, settings), dryRun },
    onSentTwice: () => update({ isSentTwice: true }),
    onWaiting: () => update({ isWaiting: true }),
  })

  function update(change: Partial<ImportStatus>): void {
    status = { ...status, ...change }
    onChange(status)
  }

  /** The position in the file where a slice ends; estimated if the text is decompressed or converted. */
  function fileBytesTo({ endBytes, readBytes }: RowSlice): number {
    if (!source.isGzip && !isConverted(source, settings)) return endBytes
    return Math.max(status.bytes, Math.round((fileBytes * endBytes) / readBytes))
  }

  async function sendSlice({ slice, bytes }: { slice: RowSlice; bytes: number }): Promise<void> {
    const report = await sender.send(slice, controller.signal)
    failedRows.take(slice, report.errors)
    const errors = [...status.errors, ...report.errors].slice(0, SHOWN_ERRORS_MAX)
    update({ ...sumOf(status, report), errors, nextLine: slice.nextLine, bytes, isWaiting: false })
  }

  async function importSlices(): Promise<ImportEnd['is']> {
    for (;;) {
      if (pending === undefined) {
        const { done, value } = await slices.next()
        if (done) return 'done'
        pending = { slice: value, bytes: fileBytesTo(value) }
      }
      if (isStopped) return 'stopped'
      await sendSlice(pending)
      pending = undefined
    }
  }

  return {
    async resume() {
      controller = new AbortController()
      isStopped = false
      try {
        const is = await importSlices()
        return { is, isUncertain: sender.isUncertain, canResume: is === 'stopped' }
      } catch (error) {
        update({ isWaiting: false })
        const { isUncertain } = sender
        if (controller.signal.aborted) return { is: 'stopped', isUncertain, canResume: true }
        // Without a pending slice, reading the file failed.
        return { is: 'failed', isUncertain, canResume: pending !== undefined && isTemporary(error), error }
      }
    },
    stop() {
      isStopped = true
      const stopped = controller
      if (status.isWaiting) stopped.abort()
      else setTimeout(() => stopped.abort(), STOP_MS)
    },
    abort() {
      isStopped = true
      controller.abort()
      slices.return().catch(() => undefined)
    },
    failedRowsFile: () => failedRows.file(),
  }
}

type Counts = Pick<ImportReport, 'created' | 'replaced' | 'skipped' | 'failed'>

function sumOf(one: Counts, other: Counts): Counts {
  return {
    created: one.created + other.created,
    replaced: one.replaced + other.replaced,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
  }
}
