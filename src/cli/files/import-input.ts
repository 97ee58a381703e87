import { constants, openSync } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { CommandFailure } from '../output/command-failure.ts'
import { fileFailure } from '../output/file-failure.ts'

/** What is imported: a file, or what comes on standard input. */
export interface ImportInput {
  /** Absent where nobody knows: on standard input, from a named pipe. */
  bytes?: number | undefined
  /** Whether somebody types it. */
  isTyped: boolean
  /** Its bytes, once; `onBytes` is told how many were given so far. */
  read(onBytes: (bytes: number) => void): AsyncIterable<Buffer>
  /** What `read` gave, from the beginning, decompressed; only where it was opened to be read again. */
  readAgain(): AsyncIterable<Buffer>
  close(): Promise<void>
}

export interface OpenInputOptions {
  isGzip: boolean
  /**
   * Keeps what cannot be read twice in a file beside this one, without a name: it is gone with the process,
   * however that ends.
   */
  keepBeside: string | undefined
}

/** Opens a file, or standard input for `-`. Throws a CommandFailure when it cannot be read. */
export async function openInput(
  path: string,
  { isGzip, keepBeside }: OpenInputOptions,
): Promise<ImportInput> {
  const source: Source = path === '-' ? { stream: process.stdin } : await openSource(path)
  const { stream, file, bytes } = source
  const copy = file === undefined && keepBeside !== undefined ? await openNameless(keepBeside) : undefined

  async function* read(onBytes: (bytes: number) => void): AsyncGenerator<Buffer, void, undefined> {
    let given = 0
    try {
      for await (const piece of stream as AsyncIterable<Buffer>) {
        await copy?.writeFile(piece)
        given += piece.length
        onBytes(given)
        yield piece
      }
    } catch (error) {
      throw fileFailure('read', path, error)
    }
  }

  return {
    bytes,
    isTyped: path === '-' && process.stdin.isTTY === true,
    read,
    readAgain() {
      const again = file ?? copy
      if (again === undefined) throw new Error('The input was not opened to be read again')
      const rows = again.createReadStream({ start: 0, autoClose: false })
      return isGzip ? rows.pipe(createGunzip()) : rows
    },
    async close() {
      // Or an interrupted import would wait for what may never come.
      stream.destroy()
      await file?.close()
      await copy?.close()
    },
  }
}

interface Source {
  stream: Readable
  /** What can be read again, and how long it is. */
  file?: FileHandle
  bytes?: number
}

async function openSource(path: string): Promise<Source> {
  try {
    const status = await stat(path)
    if (status.isDirectory()) throw new CommandFailure(`${path}: cannot read it: it is a folder.`)
    if (status.isFIFO()) return { stream: openPipe(path) }
    const file = await open(path)
    const stream = file.createReadStream({ autoClose: false })
    return status.isFile() ? { stream, file, bytes: status.size } : { stream }
  } catch (error) {
    throw fileFailure('read', path, error)
  }
}

/** A named pipe, read without a thread that waits for it: nothing could end such a thread, not even the process. */
function openPipe(path: string): Readable {
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })
}

async function openNameless(beside: string): Promise<FileHandle> {
  const path = `${beside}.${process.pid}.partial`
  try {
    const handle = await open(path, 'wx+', 0o600)
    await rm(path)
    return handle
  } catch (error) {
    throw fileFailure('write', path, error)
  }
}
