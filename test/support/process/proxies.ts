import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { findFreePort } from '../free-port.ts'
import { type Lifetime, temporaryFolder } from '../http/start-app.ts'

/** How long a proxy may take to listen, on a busy machine. */
const START_TIMEOUT_MS = 20_000

interface ProxyProgram {
  path: string
  /** The arguments that run a configuration file in the foreground. */
  parameters: (file: string) => string[]
}

export const HAPROXY: ProxyProgram = {
  path: '/usr/sbin/haproxy',
  parameters: (file) => ['-db', '-f', file],
}
export const NGINX: ProxyProgram = {
  path: '/usr/sbin/nginx',
  parameters: (file) => ['-c', file, '-g', 'daemon off;'],
}

/** Why a test of the program is skipped; false if the program is installed. */
export function skipWithout({ path }: ProxyProgram): string | false {
  return existsSync(path) ? false : `not tested: there is no ${path}`
}

/**
 * Runs a proxy on a free port until the test ends, and returns its URL once it responds. `configurationOf` gets the
 * port and a folder for files of the proxy.
 */
export async function startProxy(
  test: Lifetime,
  { path, parameters }: ProxyProgram,
  configurationOf: (port: number, folder: string) => string,
): Promise<string> {
  const port = await findFreePort()
  const folder = temporaryFolder(test)
  const file = join(folder, 'proxy.cfg')
  writeFileSync(file, configurationOf(port, folder))
  const proxy = spawn(path, parameters(file), { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  proxy.stderr.on('data', (text) => {
    errors += text
  })
  test.after(() => void proxy.kill('SIGTERM'))
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => {
    if (proxy.exitCode !== null) throw new Error(`${path} ended: ${errors}`)
    return fetch(url).then(
      () => true,
      () => false,
    )
  }, START_TIMEOUT_MS)
  return url
}

/** A configuration of nginx as an unprivileged user may run it, with these lines in its server block. */
export function nginxConfiguration(port: number, folder: string, serverLines: string): string {
  const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  // As root its workers would change to a user who cannot enter the folder.
  return `
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    pid ${folder}/nginx.pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      ${temporaryPaths.join('\n')}
      server {
        listen 127.0.0.1:${port};
        ${serverLines}
      }
    }`
}
