import {
  type ImportFileOptions,
  type ImportReport,
  type PlantStoreClient,
  RequestError,
} from '../../../src/client/plant-store-client.ts'
import { isBlankRow } from '../../../src/plants/import/table-dialect.ts'
import { ID_MAX } from '../parts/parse-id.ts'
import { withFileLine, withFileLines } from './file-lines.ts'
import type { RowSlice } from './row-slices.ts'
import { importTexts } from './texts.ts'

export interface SliceSenderOptions {
  client: PlantStoreClient
  options: ImportFileOptions
  /** Called before a retry of a slice whose rows may be stored already. */
  onSentTwice(): void
  /** Called before a wait for a busy service. */
  onWaiting(): void
}

export interface SliceSender {
  /**
   * Sends the next slice, or the same one again. Retries while the service is busy. Line numbers in the report and in
   * errors are those of the file. Throws the errors of the client.
   */
  send(slice: RowSlice, signal: AbortSignal): Promise<ImportReport>
  /** Whether rows of the last slice may have been stored although it failed. */
  readonly isUncertain: boolean
}

/** Retries of a busy service: about a minute. */
const TRIES_MAX = 12
const BUSY_MS_FIRST = 500
const BUSY_MS_MAX = 8_000

const UNAUTHORIZED = 401
const TOO_MANY_REQUESTS = 429
const UNAVAILABLE = 503
/** An invalid field. */
const INVALID_FIELD = 40003
/** Too many imports at once: this one was not started. */
const OVERLOADED = 50301

export function createSliceSender({
  client,
  options,
  onSentTwice,
  onWaiting,
}: SliceSenderOptions): SliceSender {
  let nextId = options.idStart
  let isUncertain = false

  async function attempt(slice: RowSlice, signal: AbortSignal): Promise<ImportReport> {
    if (isUncertain) onSentTwice()
    // Rows that may be stored already must not fail because their ids are used.
    const onConflict = isUncertain && options.onConflict === 'fail' ? 'skip' : options.onConflict
    try {
      const body = new Blob([slice.bytes])
      return await client.importPlants(body, { ...options, onConflict, idStart: nextId, signal })
    } catch (error) {
      const isKnown = error instanceof RequestError && (!error.isOutcomeUnknown || error.code === OVERLOADED)
      isUncertain ||= !isKnown || error.progress !== undefined
      throw error
    }
  }

  return {
    async send(slice, signal) {
      if (nextId !== undefined && nextId > ID_MAX) return failAll(slice)
      const linesBefore = (slice.lines[0] ?? 1) - 1
      for (let tries = 1; ; tries++) {
        try {
          const report = await attempt(slice, signal)
          isUncertain = false
          const { created, replaced, skipped, failed } = report
          if (nextId !== undefined) nextId += BigInt(created + replaced + skipped + failed)
          return { ...report, errors: report.errors.map((error) => withFileLine(error, linesBefore)) }
        } catch (error) {
          if (!isBusy(error) || tries >= TRIES_MAX) throw withFileLines(error, linesBefore)
          onWaiting()
          const busyMs = Math.min(BUSY_MS_FIRST * 2 ** (tries - 1), BUSY_MS_MAX)
          await pause(error.retryAfterMs ?? busyMs, signal)
        }
      }
    },
    get isUncertain() {
      return isUncertain
    },
  }
}

/** The report of rows after the greatest id: the service accepts no greater `idStart`. */
function failAll({ bytes, starts, lines }: RowSlice): ImportReport {
  const rows = lines.filter((_, at) => !isBlankRow(bytes.subarray(starts[at], starts[at + 1])))
  const errors = rows.map((line) => ({ line, error: INVALID_FIELD, message: importTexts.noIdLeft }))
  return { created: 0, replaced: 0, skipped: 0, failed: rows.length, errors }
}

function isBusy(error: unknown): error is RequestError {
  return error instanceof RequestError && (error.status === TOO_MANY_REQUESTS || error.status === UNAVAILABLE)
}

/** Whether a retry may succeed later, or after signing in again. */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof RequestError)) return false
  const { kind, status = 0 } = error
  return kind !== 'service' || status === UNAUTHORIZED || status === TOO_MANY_REQUESTS || status >= 500
}

/** Waits, unless the signal is aborted first: then it throws the signal's reason. */
function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, delayMs)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
