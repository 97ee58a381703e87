/** The names that Kubernetes sets for a Service, except `…_PORT` (docs of Services: environment variables). */
const SERVICE_NAME = /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z0-9_]+)?$/

/** `PLANTSTORE_PORT_8080_TCP_ADDR`: of both. Docker adds `…_START` and `…_END` for a range of ports. */
const PORT_NAME = /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|ADDR|PORT|START|END|PORT_START|PORT_END))?$/

/** `PLANTSTORE_ENV_PATH`: a variable of a linked container. */
const LINKED_VARIABLE = /_ENV_./

/** `PLANTSTORE_PORT=tcp://10.0.0.7:8080`: of Kubernetes and of a Docker link. */
const LINKED_PORT = /^(?:tcp|udp|sctp):\/\/\S+:\d+$/

/** `PLANTSTORE_NAME=/web/plantstore`: of a Docker link. */
const LINKED_NAME = /^(?:\/[\w.-]+){2}$/

/**
 * Whether a variable describes a service or a linked container called `plantstore…`. Kubernetes and Docker set such
 * variables in every other container. They are no settings, whatever their prefix.
 */
export function isServiceLink(name: string, value: string): boolean {
  if ([SERVICE_NAME, PORT_NAME, LINKED_VARIABLE].some((pattern) => pattern.test(name))) return true
  if (name.endsWith('_PORT')) return LINKED_PORT.test(value)
  return name.endsWith('_NAME') && LINKED_NAME.test(value)
}
