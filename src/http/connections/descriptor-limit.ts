import type { Logger } from 'pino'

/** File descriptors beside those of connections: database, threads, exports, log. */
const OTHER_DESCRIPTORS = 64

/**
 * Warns if the process may open fewer file descriptors than the service accepts connections. Beyond that limit
 * connections hang instead of being closed, and the database cannot open its files.
 */
export function warnOfFewDescriptors(connectionsMax: number, log: Logger): void {
  const descriptorsMax = readDescriptorLimit()
  if (descriptorsMax === undefined || connectionsMax + OTHER_DESCRIPTORS <= descriptorsMax) return
  log.warn(
    { connectionsMax, descriptorsMax },
    'more connections are allowed than file descriptors: raise the limit (ulimit -n, LimitNOFILE), or lower PLANTSTORE_CONNECTIONS_MAX',
  )
}

/** The limit of this process (RLIMIT_NOFILE); undefined where there is none. */
function readDescriptorLimit(): number | undefined {
  // The types lack excludeNetwork. Without it the report would look up the names of all addresses.
  const reporting: typeof process.report & { excludeNetwork?: boolean } = process.report
  const { excludeNetwork = false } = reporting
  reporting.excludeNetwork = true
  const report = reporting.getReport() as { userLimits?: { open_files?: { soft: number | string } } }
  reporting.excludeNetwork = excludeNetwork
  const limit = Number(report.userLimits?.open_files?.soft)
  return Number.isNaN(limit) ? undefined : limit
}
