/**
 * The milliseconds of processor time that this process spends while `run` does its work. Other programs on a busy
 * machine lengthen the time on the clock, but hardly this one. (Linux reports the time of a thread in whole ticks of
 * some milliseconds, and only that of the process exactly.)
 */
export async function cpuTimeMs(run: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
