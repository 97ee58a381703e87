import type { Stats } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { CommandFailure } from './command-failure.ts'
import { fileFailure } from './file-failure.ts'

/** What is imported: a file, or what comes on standard input. */
export interface ImportInput {
  /** Absent where nobody knows: on standard input, from a named pipe. */
  bytes: number | undefined
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
  const file = path === '-' ? undefined : await openFile(path)
  const isRegular = file?.status.isFile() ?? false
  const copy = isRegular || keepBeside === undefined ? undefined : await openNameless(keepBeside)
  const again = isRegular ? file?.handle : copy
  const source = () =>
    file === undefined ? process.stdin : file.handle.createReadStream({ autoClose: false })

  async function* read(onBytes: (bytes: number) => void): AsyncGenerator<Buffer, void, undefined> {
    let bytes = 0
    try {
      for await (const piece of source() as AsyncIterable<Buffer>) {
        await copy?.writeFile(piece)
        bytes += piece.length
        onBytes(bytes)
        yield piece
      }
    } catch (error) {
      throw fileFailure('read', path, error)
    }
  }

  return {
    bytes: isRegular ? file?.status.size : undefined,
    read,
    readAgain() {
      if (again === undefined) throw new Error('The input was not opened to be read again')
      const stream = again.createReadStream({ start: 0, autoClose: false })
      return isGzip ? stream.pipe(createGunzip()) : stream
    },
    async close() {
      // Or an interrupted import would wait for what may never come.
      if (file === undefined) process.stdin.destroy()
      await file?.handle.close()
      await copy?.close()
    },
  }
}

interface OpenedFile {
  handle: FileHandle
  status: Stats
}

async function openFile(path: string): Promise<OpenedFile> {
  try {
    const handle = await open(path)
    const status = await handle.stat()
    if (!status.isDirectory()) return { handle, status }
    await handle.close()
  } catch (error) {
    throw fileFailure('read', path, error)
  }
  throw new CommandFailure(`${path}: cannot read it: it is a folder.`)
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
