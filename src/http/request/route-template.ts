/** The path of a request target, without its query. A target may be a whole URL (RFC 9112 §3.2.2). */
export function requestPath(target: string): string {
  const [withoutQuery = ''] = target.split('?', 1)
  return withoutQuery.replace(/^https?:\/\/[^/]*/i, '')
}

/** The path of a route, `/plants/:id`, as in the OpenAPI document: `/plants/{id}`. */
export function templateOf(routePath: string): string {
  return routePath.replace(/:(\w+)/g, '{$1}')
}
