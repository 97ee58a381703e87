import { type Command, Option } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { SetupError } from '../../errors.ts'
import { openStorage } from '../../storage/open-storage.ts'
import type { Storage } from '../../storage/storage.ts'
import { issueToken, rotateToken } from '../../tokens/issue-token.ts'
import { parseNewToken } from '../../tokens/new-token.ts'
import {
  GRACE_SECONDS_DEFAULT,
  GRACE_SECONDS_MAX,
  SCOPES,
  type Scope,
  type StoredToken,
} from '../../tokens/token.ts'
import { createTokenAudit, type TokenEvent } from '../../tokens/token-audit.ts'
import type { CommandContext, OutputStream } from '../command-context.ts'
import { shortTime } from '../output/plant-output.ts'
import { print } from '../output/standard-output.ts'
import { createTable } from '../output/table.ts'
import { parseChoice, parseCount } from './command-values.ts'

const DAY_MS = 86_400_000
/** Nearly 274 years. */
const DAYS_MAX = 99_999

const SCOPES_DEFAULT: readonly Scope[] = ['plants:read', 'plants:write']

type LogToken = (event: TokenEvent, stored: Pick<StoredToken, 'id'> & Partial<StoredToken>) => Promise<void>

interface DatabaseFlag {
  database?: string
}

interface CreateFlags extends DatabaseFlag {
  label: string
  scope?: Scope[]
  expiresInDays?: number
}

/** `plantstore token create|list|rotate|revoke`: on the database itself, also while a service runs on it. */
export function addTokenCommand(program: Command, context: CommandContext): void {
  const { stdout, stderr } = context
  const token = program
    .command('token')
    .description('create, list, rotate and revoke the tokens of a store, on its machine')
    .addHelpText('after', '\nExample:\n  plantstore token create --label greenhouse --scope plants:read')
  const database = () => new Option('--database <file or URL>', 'the store (PLANTSTORE_DATABASE)')

  token
    .command('create')
    .description('create a token and print it: it is shown only once')
    .addOption(database())
    .option('--label <text>', 'its purpose', '')
    .addOption(
      new Option('--scope <scope...>', `its permissions (default: ${SCOPES_DEFAULT.join(', ')})`)
        .choices(SCOPES)
        .argParser(parseScopes),
    )
    .option(
      '--expires-in-days <number>',
      'number of days until it expires (default: never)',
      parseCount(DAYS_MAX),
    )
    .addHelpText('after', '\nExample:\n  plantstore token create --label greenhouse --scope plants:read')
    .action((flags: CreateFlags) =>
      withStorage(context, flags, async ({ tokens }, log) => {
        const { token: secret, stored } = await issueToken(tokens, wantedToken(flags))
        stderr.write(`Token ${stored.id} with ${stored.scopes.join(', ')}. It is shown only once:\n`)
        await print(stdout, `${secret}\n`)
        await log('created', stored)
      }),
    )

  token
    .command('list')
    .description('list the tokens, the oldest first')
    .addOption(database())
    .addHelpText(
      'after',
      '\nPrints a table on a terminal; piped, a line for each token, with tabs between the fields.\n\nExample:\n  plantstore token list',
    )
    .action((flags: DatabaseFlag) =>
      withStorage(context, flags, async ({ tokens }) => {
        await print(stdout, tokenTable(await tokens.list(), stdout))
      }),
    )

  addRotateCommand(token, context, database)

  token
    .command('revoke <id>')
    .description('revoke a token; running services reject it within 5 seconds')
    .addOption(database())
    .addHelpText('after', '\nExample:\n  plantstore token revoke 5YqN0PzGk2a')
    .action((id: string, flags: { database?: string }) =>
      withStorage(context, flags, async ({ tokens }, log) => {
        if (!(await tokens.revoke(id))) throw noToken(id)
        stderr.write(`Token ${id} is revoked.\n`)
        await log('revoked', { id })
      }),
    )
}

function addRotateCommand(token: Command, context: CommandContext, database: () => Option): void {
  const { stdout, stderr } = context
  token
    .command('rotate <id>')
    .description('give a token a new secret and print it; the old one stays valid for a grace period')
    .addOption(database())
    .option(
      '--grace-seconds <number>',
      'grace period of the old secret; 0: it expires within 5 seconds',
      parseCount(GRACE_SECONDS_MAX, 0),
      GRACE_SECONDS_DEFAULT,
    )
    .addHelpText('after', '\nExample:\n  plantstore token rotate 5YqN0PzGk2a --grace-seconds 3600')
    .action((id: string, { graceSeconds, ...flags }: DatabaseFlag & { graceSeconds: number }) =>
      withStorage(context, flags, async ({ tokens }, log) => {
        const rotated = await rotateToken(tokens, id, graceSeconds)
        if (rotated === 'absent') throw noToken(id)
        if (rotated === 'expired') {
          throw new SetupError(
            `Token ${id} has expired and cannot be rotated: create another with "plantstore token create".`,
          )
        }
        const expiry = graceSeconds === 0 ? 'expires now' : `expires in ${graceSeconds} seconds`
        stderr.write(`Token ${id} is rotated; the old secret ${expiry}. The new one is shown only once:\n`)
        await print(stdout, `${rotated.token}\n`)
        await log('rotated', rotated.stored)
      }),
    )
}

function noToken(id: string): SetupError {
  return new SetupError(`There is no token ${id}: see "plantstore token list".`)
}

async function withStorage(
  { environment, stderr }: CommandContext,
  { database }: DatabaseFlag,
  use: (storage: Storage, log: LogToken) => Promise<void>,
): Promise<void> {
  const config = readConfig(database === undefined ? {} : { database }, environment)
  const storage = await openStorage(config.database, { ...config, mustExistAt: '--database' })
  try {
    await use(storage, (event, stored) => logToken(config.logLevel, stderr, event, stored))
  } finally {
    await storage.close()
  }
}

/** Parses one more scope, or several between commas. */
function parseScopes(text: string, before: readonly Scope[] = []): Scope[] {
  return [...before, ...text.split(',').map((scope) => parseChoice(scope, SCOPES) as Scope)]
}

/** Writes an audit line where standard error is collected. At a terminal the messages of the command suffice. */
async function logToken(
  logLevel: string,
  stderr: OutputStream,
  ...[event, stored]: Parameters<LogToken>
): Promise<void> {
  if (stderr.isTTY) return
  const { createLog } = await import('../../log.ts')
  const actor = { by: 'command line', userId: process.getuid?.() } as const
  createTokenAudit(await createLog(logLevel, stderr)).logChange(event, stored, actor)
}

function wantedToken({ label, scope: scopes = [...SCOPES_DEFAULT], expiresInDays }: CreateFlags) {
  if (expiresInDays === undefined) return parseNewToken({ label, scopes }, Date.now())
  const expiresAt = new Date(Date.now() + expiresInDays * DAY_MS).toISOString()
  return parseNewToken({ label, scopes, expiresAt }, Date.now())
}

function tokenTable(tokens: readonly StoredToken[], stdout: OutputStream): string {
  const time = (timeMs: number | undefined) =>
    timeMs === undefined ? 'never' : shortTime(new Date(timeMs).toISOString())
  const table = createTable(
    [
      { title: 'ID' },
      { title: 'CREATED' },
      { title: 'EXPIRES' },
      { title: 'LAST USED' },
      { title: 'SCOPES' },
      { title: 'LABEL', isTruncatable: true },
    ],
    stdout,
  )
  return table(
    tokens.map(({ id, createdAtMs, expiresAtMs, lastUsedAtMs, scopes, label }) => [
      id,
      time(createdAtMs),
      time(expiresAtMs),
      time(lastUsedAtMs),
      scopes.join(' '),
      label,
    ]),
  )
}
