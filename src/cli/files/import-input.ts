import { constants, openSync } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { printable } from '../../printable.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { fileFailure } from '../output/file-failure.ts'

/** The file that is imported, or standard input. */
export interface ImportInput {
  /** Absent if unknown: on standard input, from a named pipe. */
  bytes?: number | undefined
  /** Whether the user types it at a terminal. */
  isTyped: boolean
  /** Its bytes, once; `onBytes` is called with their number so far. */
  read(onBytes: (bytes: number) => void): AsyncIterable<Buffer>
  /** The bytes of `read` again, decompressed; only with `keepBeside`, or of a file. */
  readAgain(): AsyncIterable<Buffer>
  close(): Promise<void>
}

export interface OpenInputOptions {
  isGzip: boolean
  /**
   * The path beside which an input that cannot be read twice is copied to an unlinked file. It ends with the process.
   */
  keepBeside: string | undefined
}

/** Opens a file, or standard input for `-`. Throws a CommandFailure if it cannot be read. */
export async function openInput(
  { stdin }: Pick<CommandContext, 'stdin'>,
  path: string,
  { isGzip, keepBeside }: OpenInputOptions,
): Promise<ImportInput> {
  const source: Source = path === '-' ? { stream: stdin } : await openSource(path)
  const { stream, file, bytes } = source
  const copy = file === undefined && keepBeside !== undefined ? await openUnlinked(keepBeside) : undefined

  async function* read(onBytes: (bytes: number) => void): AsyncGenerator<Buffer, void, undefined> {
    let bytesRead = 0
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        await copy?.writeFile(chunk)
        bytesRead += chunk.length
        onBytes(bytesRead)
        yield chunk
      }
    } catch (error) {
      throw fileFailure('read', path, error)
    }
  }

  return {
    bytes,
    isTyped: path === '-' && stdin.isTTY === true,
    read,
    readAgain() {
      const again = file ?? copy
      if (again === undefined) throw new Error('The input was not opened to be read again')
      const rows = again.createReadStream({ start: 0, autoClose: false })
      return isGzip ? rows.pipe(createGunzip()) : rows
    },
    async close() {
      // Otherwise an interrupted import would wait for more input.
      stream.destroy()
      await file?.close()
      await copy?.close()
    },
  }
}

interface Source {
  stream: Readable
  /** Only if it can be read again, with its size. */
  file?: FileHandle
  bytes?: number
}

async function openSource(path: string): Promise<Source> {
  try {
    const status = await stat(path)
    if (status.isDirectory()) throw new CommandFailure(`Cannot read ${printable(path)}: it is a folder.`)
    if (status.isFIFO()) return { stream: openPipe(path) }
    const file = await open(path)
    const stream = file.createReadStream({ autoClose: false })
    return status.isFile() ? { stream, file, bytes: status.size } : { stream }
  } catch (error) {
    throw fileFailure('read', path, error)
  }
}

/** Reads a named pipe without blocking a thread: a blocked one would keep the process alive. */
function openPipe(path: string): Readable {
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })
}

async function openUnlinked(beside: string): Promise<FileHandle> {
  const path = `${beside}.${process.pid}.partial`
  try {
    const handle = await open(path, 'wx+', 0o600)
    await rm(path)
    return handle
  } catch (error) {
    throw fileFailure('write', path, error)
  }
}
