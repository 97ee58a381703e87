import { closeSync, openSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { flagOf, readConfig, type SettingName, variableOf } from '../../config/read-config.ts'
import { SETTINGS } from '../../config/settings.ts'
import type { RunningService } from '../../serve.ts'
import { describeDatabase } from '../../storage/open-storage.ts'
import type { CommandContext, OutputStream } from '../command-context.ts'
import { CommandFailure, EXIT_INTERRUPTED } from '../output/command-failure.ts'
import { print } from '../output/standard-output.ts'
import { choiceOption } from './command-values.ts'
import { notifySystemdReady } from './notify-systemd.ts'

/** What help and completion call the values of text settings. */
const VALUES: Partial<Record<SettingName, string>> = {
  database: 'file or URL',
  tlsCert: 'file',
  tlsKey: 'file',
  socket: 'file',
  backupDir: 'folder',
}

/** The settings by heading of the help, the most needed ones first. */
const GROUPS: Readonly<Record<string, readonly SettingName[]>> = {
  'Address and database:': ['host', 'port', 'database', 'baseUrl', 'socket', 'tlsCert', 'tlsKey'],
  'Operation:': [
    'logLevel',
    'metrics',
    'slowRequestMs',
    'backupDir',
    'backupIntervalMs',
    'backupsKept',
    'migrate',
    'checkOnStart',
    'shutdownDelayMs',
    'shutdownTimeoutMs',
  ],
  'Callers:': [
    'corsOrigins',
    'oidcIssuer',
    'oidcAudience',
    'oidcScopeClaim',
    'oidcScopeMap',
    'trustedProxies',
    'failedAuthenticationsMax',
    'rateLimit',
    'rateLimitPlantsRead',
    'rateLimitPlantsWrite',
    'rateLimitTokensManage',
  ],
  'Limits:': [
    'bodyBytesMax',
    'headersTimeoutMs',
    'requestTimeoutMs',
    'keepAliveTimeoutMs',
    'sendTimeoutMs',
    'exportTimeoutMs',
    'connectionsMax',
    'connectionsPerAddressMax',
    'queuedWritesMax',
    'writeLagMaxMs',
    'eventLoopLagMaxMs',
    'idempotencyTtlMs',
  ],
  'PostgreSQL:': [
    'postgresConnections',
    'postgresConnectTimeoutMs',
    'postgresStatementTimeoutMs',
    'postgresPrepare',
  ],
}

type ServeFlags = Partial<Record<SettingName, string | boolean>>

/** `plantstore serve`: every setting is a flag, except secrets: others could read them in the list of processes. */
export function addServeCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('serve')
    .description('Run the service')
    .addHelpText(
      'after',
      '\nA flag overrides its environment variable. PLANTSTORE_FIXED_TOKEN, a fixed token with every scope, has no flag.\n\nExample:\n  plantstore serve --port 8080 --database data/plantstore.db',
    )
  for (const [heading, names] of Object.entries(GROUPS)) {
    for (const name of names) command.addOption(optionOf(name, SETTINGS[name]).helpGroup(heading))
  }
  command.action((flags: ServeFlags) => runService(context, flags))
}

async function runService(context: CommandContext, flags: ServeFlags): Promise<void> {
  const { environment, stdout, stderr } = context
  const config = readConfig(flags, environment)
  // Loaded late: help and invalid settings need not wait for it.
  const [{ createLog }, { serve }] = await Promise.all([import('../../log.ts'), import('../../serve.ts')])
  const log = await createLog(config.logLevel, stderr)
  let running: RunningService | undefined
  // Registered first: by default the signal ends the process.
  const onSigHup = () => {
    if (isTerminalGone(stderr)) endBySignal()
    else void running?.reload()
  }
  process.on('SIGHUP', onSigHup)
  try {
    const service = await serve(config, log)
    running = service
    // Before the greeting: its reader may stop the service at once.
    const stopping = untilSignalled()
    // The service runs even if nobody reads its output.
    await print(stdout, greeting(service)).catch(() => undefined)
    const { version, url, socket } = service
    log.info(
      {
        version,
        ...(socket === undefined ? { url } : { socket }),
        database: describeDatabase(config.database),
      },
      'serving',
    )
    // After the first token is printed: a unit that waited for the service may look for it.
    void notifySystemdReady(config.notifySocket, log)
    log.info({ signal: await stopping.first }, 'stopping')
    await Promise.race([service.stop(), stopping.second])
    log.info('stopped')
  } finally {
    process.off('SIGHUP', onSigHup)
  }
}

function optionOf(name: SettingName, setting: (typeof SETTINGS)[SettingName]): Option {
  const preset = 'default' in setting && setting.default !== false ? ` (default: ${setting.default})` : ''
  const about = `${setting.about}${preset} [${variableOf(name)}]`
  const flag = flagOf(name)
  if (setting.type === 'choice') return choiceOption(`${flag} <word>`, about, setting.choices)
  // A flag without a value could not turn it off.
  if (setting.type === 'boolean') {
    return setting.default
      ? choiceOption(`${flag} <word>`, about, ['true', 'false'])
      : new Option(flag, about)
  }
  return new Option(`${flag} <${VALUES[name] ?? setting.type}>`, about)
}

/** The address of the service and, with a first token, a line that creates the first plant. */
function greeting({ url, socket, firstToken }: RunningService): string {
  const curl = socket === undefined ? 'curl' : `curl --unix-socket ${shellQuoted(socket)}`
  const address =
    socket === undefined
      ? `Plant Store is at ${url} (API reference: ${url}/docs)\n`
      : `Plant Store is at the socket ${socket} (try: ${curl} ${url}/healthz)\n`
  if (firstToken === undefined) return address
  return `${address}
The store had no token. This one has every scope, and is shown only once:

  ${firstToken}

Create the first plant:

  ${curl} ${url}/plants -H 'Authorization: Bearer ${firstToken}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Quercus robur","tag":"tree"}'

`
}

function shellQuoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Whether SIGHUP means that the terminal was closed, not a request to reload. */
function isTerminalGone(stderr: OutputStream): boolean {
  if (!stderr.isTTY) return false
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return false
  } catch {
    return true
  }
}

/** Ends the process by the default action of SIGHUP. */
function endBySignal(): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}

/** `first` resolves to the first SIGTERM or SIGINT; `second` rejects at the second one, of either kind. */
function untilSignalled(): { first: Promise<NodeJS.Signals>; second: Promise<never> } {
  const first = Promise.withResolvers<NodeJS.Signals>()
  const second = Promise.withResolvers<never>()
  let isSignalled = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isSignalled) second.reject(new CommandFailure('', EXIT_INTERRUPTED))
      isSignalled = true
      first.resolve(signal)
    })
  }
  return { first: first.promise, second: second.promise }
}
