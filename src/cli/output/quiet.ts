import { Writable } from 'node:stream'
import { Option } from 'commander'
import type { CommandContext, OutputStream } from '../command-context.ts'

export interface QuietFlag {
  quiet?: true | undefined
}

export function quietOption(): Option {
  return new Option('-q, --quiet', 'Print no progress and no message of success')
}

/** Where progress and messages of success are written: standard error, or nowhere with --quiet. */
export function messageStream(
  { stderr }: Pick<CommandContext, 'stderr'>,
  { quiet }: QuietFlag,
): OutputStream {
  return quiet ? new Writable({ write: (_chunk, _encoding, done) => done() }) : stderr
}
