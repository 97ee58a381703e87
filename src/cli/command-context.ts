import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../config/setting.ts'

/** A stream that a command writes to. */
export interface OutputStream extends Writable {
  isTTY?: boolean
  /** The width of the terminal; absent or 0 if unknown. */
  columns?: number
  /** Absent in memory. */
  fd?: number
}

/** The streams of a command: those of the process, or in memory. */
export interface CommandStreams {
  stdin: Readable & { isTTY?: boolean; fd?: number }
  stdout: OutputStream
  stderr: OutputStream
}

/** What a command uses of its process. */
export interface CommandContext extends CommandStreams {
  environment: Environment
}
