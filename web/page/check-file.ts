import type { FileSource, ImportFileOptions, ImportReport } from '../../src/client/plant-store-client.ts'
import { type ImportSettings, importOptions, rolesOf } from './import-settings.ts'
import { type ImportSource, isWide, previewRows, readSource } from './import-source.ts'
import { type RowsStart, sliceRows } from './row-slices.ts'
import type { Session } from './session.ts'
import { uploadFetch } from './upload-fetch.ts'

export interface CheckParts {
  session: Session
  source: ImportSource
  settings: ImportSettings
  signal: AbortSignal
  /** Told which share of the file was sent. */
  onShare(share: number): void
}

/**
 * What would become of the rows. The file goes in one request: only so are rows found whose ids came earlier in it.
 * Lines are those of the file. Throws as the client does.
 */
export async function checkFile(parts: CheckParts): Promise<ImportReport> {
  const { session, signal, onShare } = parts
  const client = session.clientOver(uploadFetch(onShare))
  const { body, options, linesBefore } = await bodyOf(parts)
  const report = await client.importPlants(body, { ...options, dryRun: true, signal })
  const errors = report.errors.map((error) => ({ ...error, line: error.line + linesBefore }))
  return { ...report, errors }
}

interface CheckBody {
  body: FileSource
  options: ImportFileOptions
  /** How many lines of the file are not in the body. */
  linesBefore: number
}

/** As it is, wherever that says the same; otherwise without its header row. */
async function bodyOf({ source, settings }: CheckParts): Promise<CheckBody> {
  const { file, format, isGzip } = source
  const { encoding, hasHeader, roles } = settings
  const options = importOptions(format, settings)
  const asItIs = {
    ...options,
    gzip: isGzip,
    encoding: format === 'csv' && encoding !== 'utf-8' ? encoding : undefined,
  }
  if (format === 'ndjson' || !hasHeader) return { body: file, options: asItIs, linesBefore: 0 }
  const named = rolesOf(previewRows(source, encoding)[0] ?? [])
  if (named.length === roles.length && named.every((role, at) => role === roles[at])) {
    return { body: file, options: { ...asItIs, columns: undefined }, linesBefore: 0 }
  }
  const { bytes = 0, lines: linesBefore = 0 } = (await startOf(source, settings)) ?? {}
  if (!isGzip && !isWide(encoding)) return { body: file.slice(bytes), options, linesBefore }
  let left = bytes
  const rows = readSource(source, encoding, () => {}).pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        if (left < chunk.length) controller.enqueue(chunk.subarray(left))
        left = Math.max(0, left - chunk.length)
      },
    }),
  )
  return { body: rows, options, linesBefore }
}

/** What is before the rows; undefined where there are none. */
async function startOf(source: ImportSource, { encoding }: ImportSettings): Promise<RowsStart | undefined> {
  let start: RowsStart | undefined
  const text = readSource(source, encoding, () => {})
  const onStart = (found: RowsStart) => {
    start = found
  }
  const slices = sliceRows(text, { format: source.format, hasHeader: true, onStart })
  await slices.next()
  await slices.return()
  return start
}
