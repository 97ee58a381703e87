import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { ExportFileOptions, FileFormat } from '../../client/plant-store-client.ts'
import { createRowScanner } from '../../plants/import/row-scanner.ts'
import { requestFailure } from '../calls/request-failure.ts'
import type { Service } from '../calls/service-call.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { printable, printableLines } from '../output/printable.ts'
import { byteSize, createProgressBar, plantCount } from '../output/progress-bar.ts'
import { sentences } from '../output/sentences.ts'
import { print } from '../output/standard-output.ts'
import { isFileThere, openReplacement, type ReplacementFile } from './replacement-file.ts'

interface ExportOptions extends Service {
  options: ExportFileOptions
  isGzip: boolean
}

type Pieces = AsyncIterable<Uint8Array>

/**
 * Writes an export to a file, or to standard output. Throws a CommandFailure that says how far it got and what
 * became of the file.
 */
export async function exportTo(path: string | undefined, parts: ExportOptions): Promise<void> {
  const rows = createRowCount(parts.options.format)
  const wasThere = path !== undefined && (await isFileThere(path))
  const file = path === undefined ? undefined : await openReplacement(path)
  try {
    if (file === undefined) await exportToOutput(parts, rows)
    else await exportToFile(file, parts, rows)
  } catch (error) {
    const failure = requestFailure(error, parts.url)
    if (!(failure instanceof CommandFailure)) throw failure
    const arrived = rows.count() === 0 ? undefined : `${plantCount(rows.count())} had arrived.`
    const left = file?.isWhole ? wholeFileText(path ?? '', wasThere) : 'What was written is not whole.'
    throw new CommandFailure(sentences(failure.message, arrived, left), failure.exitCode)
  }
  if (path !== undefined) process.stderr.write(`${plantCount(rows.count())} in ${path}.\n`)
}

function wholeFileText(path: string, wasThere: boolean): string {
  return wasThere ? `${printable(path)} is as it was.` : `There is no ${printable(path)}.`
}

async function exportToFile(file: ReplacementFile, parts: ExportOptions, rows: RowCount): Promise<void> {
  const { client, options, signal, isGzip } = parts
  try {
    const stream = await client.exportPlants({ ...options, signal })
    const source = Readable.from(withProgress(stream, rows), { objectMode: false })
    const write = async (pieces: Pieces) => {
      for await (const piece of pieces) await file.write(piece)
    }
    await (isGzip ? pipeline(source, createGzip(), write, { signal }) : pipeline(source, write, { signal }))
    await file.commit()
  } catch (error) {
    // Aborted, the pipeline tells of that and not of why.
    throw signal.aborted ? signal.reason : error
  } finally {
    await file.discard()
  }
}

async function exportToOutput(parts: ExportOptions, rows: RowCount): Promise<void> {
  const decoder = new TextDecoder()
  const stream = await parts.client.exportPlants({ ...parts.options, signal: parts.signal })
  // No bar where the plants themselves are seen to come.
  for await (const piece of process.stdout.isTTY ? counted(stream, rows) : withProgress(stream, rows)) {
    // Names may hold what a terminal would obey.
    await print(process.stdout.isTTY ? printableLines(decoder.decode(piece, { stream: true })) : piece)
  }
}

async function* withProgress(pieces: Pieces, rows: RowCount): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  const bar = await createProgressBar('exporting', ({ done }) => byteSize(done))
  try {
    for await (const piece of counted(pieces, rows)) {
      bytes += piece.length
      bar.update({ done: bytes, rows: rows.count() })
      yield piece
    }
  } finally {
    bar.end()
  }
}

async function* counted(pieces: Pieces, rows: RowCount): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces) {
    rows.add(piece)
    yield piece
  }
}

interface RowCount {
  add(piece: Uint8Array): void
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
