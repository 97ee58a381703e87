// autocannon brings no types: what bench/load.ts uses of it.
declare module 'autocannon' {
  interface Request {
    method?: string
    path?: string
    headers?: Record<string, string>
    body?: string
    setupRequest?: (request: Request) => Request
  }

  interface Options {
    url: string
    connections: number
    /** Seconds. */
    duration: number
    requests: Request[]
  }

  interface Result {
    requests: { total: number }
    latency: { p50: number; p99: number }
    duration: number
    non2xx: number
    errors: number
  }

  function autocannon(options: Options): Promise<Result>
  export = autocannon
}
