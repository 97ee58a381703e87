import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { ExportFileOptions, FileFormat } from '../../client/plant-store-client.ts'
import { createRowScanner } from '../../plants/import/row-scanner.ts'
import { printable, printableLines } from '../../printable.ts'
import { requestFailure } from '../calls/request-failure.ts'
import type { Service } from '../calls/service-call.ts'
import type { OutputStream } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { byteSize, createProgressBar, plantCount } from '../output/progress-bar.ts'
import { sentences } from '../output/sentences.ts'
import { print } from '../output/standard-output.ts'
import { fileExists, openReplacement, type ReplacementFile } from './replacement-file.ts'

interface ExportToOptions extends Service {
  request: ExportFileOptions
  isGzip: boolean
}

interface ExportStreams {
  stdout: OutputStream
  /** For progress and the message of success. */
  messages: OutputStream
}

type Chunks = AsyncIterable<Uint8Array>

/**
 * Writes an export to a file, or to standard output. Throws a CommandFailure with the number of received plants and
 * the state of the file.
 */
export async function exportTo(
  { stdout, messages }: ExportStreams,
  path: string | undefined,
  options: ExportToOptions,
): Promise<void> {
  const rows = createRowCount(options.request.format)
  const existed = path !== undefined && (await fileExists(path))
  const file = path === undefined ? undefined : await openReplacement(path)
  try {
    if (file === undefined) await exportToOutput(options, rows, { stdout, messages })
    else await exportToFile(file, options, countWithBar(rows, messages))
  } catch (error) {
    const failure = requestFailure(error, options.url)
    if (!(failure instanceof CommandFailure)) throw failure
    const received = rows.count() === 0 ? undefined : `Received ${plantCount(rows.count())}.`
    const state = file?.isAtomic ? fileStateText(path ?? '', existed) : 'The output is incomplete.'
    throw new CommandFailure(sentences(failure.message, received, state), failure.exitCode)
  }
  if (path !== undefined) messages.write(`${plantCount(rows.count())} in ${path}.\n`)
}

function fileStateText(path: string, existed: boolean): string {
  return existed ? `${printable(path)} is unchanged.` : `${printable(path)} was not created.`
}

async function exportToFile(
  file: ReplacementFile,
  options: ExportToOptions,
  count: (chunks: Chunks) => Chunks,
): Promise<void> {
  const { client, request, signal, isGzip } = options
  try {
    const stream = await client.exportPlants({ ...request, signal })
    const source = Readable.from(count(stream), { objectMode: false })
    const write = async (chunks: Chunks) => {
      for await (const chunk of chunks) await file.write(chunk)
    }
    await (isGzip ? pipeline(source, createGzip(), write, { signal }) : pipeline(source, write, { signal }))
    await file.commit()
  } catch (error) {
    // An aborted pipeline throws an AbortError, not the reason.
    throw signal.aborted ? signal.reason : error
  } finally {
    await file.discard()
  }
}

async function exportToOutput(
  { client, request, signal }: ExportToOptions,
  rows: RowCount,
  { stdout, messages }: ExportStreams,
): Promise<void> {
  const decoder = new TextDecoder()
  const stream = await client.exportPlants({ ...request, signal })
  // On a terminal the printed plants show the progress.
  for await (const chunk of stdout.isTTY ? counted(stream, rows) : countWithBar(rows, messages)(stream)) {
    // Names may hold control characters.
    await print(stdout, stdout.isTTY ? printableLines(decoder.decode(chunk, { stream: true })) : chunk)
  }
}

/** Counts the rows of an export as they pass, with a progress bar. */
function countWithBar(rows: RowCount, messages: OutputStream) {
  return async function* countedWithBar(chunks: Chunks): AsyncGenerator<Uint8Array, void, undefined> {
    let bytes = 0
    const bar = createProgressBar(messages, 'exporting', ({ done }) => byteSize(done))
    try {
      for await (const chunk of counted(chunks, rows)) {
        bytes += chunk.length
        bar.update({ done: bytes, rows: rows.count() })
        yield chunk
      }
    } finally {
      bar.end()
    }
  }
}

async function* counted(chunks: Chunks, rows: RowCount): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    rows.add(chunk)
    yield chunk
  }
}

interface RowCount {
  add(chunk: Uint8Array): void
  count(): number
}

/** Counts the plants in the bytes of an export: its rows, less the header row. */
function createRowCount(format: FileFormat): RowCount {
  let rows = 0
  const scanner = createRowScanner({
    format,
    onRow() {
      rows++
    },
  })
  return {
    add: scanner.scan,
    count: () => (format === 'csv' ? Math.max(0, rows - 1) : rows),
  }
}
