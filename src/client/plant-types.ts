// Written by "npm run client-types" from the schemas in openapi.json; a test compares. Change the schemas.

/** The members of a Plant. */
export const PLANT_MEMBERS = ['name', 'tag'] as const satisfies readonly (keyof Plant)[]

export interface Plant {
  /** The name of the plant: a string without U+0000 and lone surrogates, stored unchanged */
  name: string
  /** Tag that specifies the type of the plant: a string without U+0000 and lone surrogates, stored unchanged */
  tag?: string
}

export interface NewPlant extends Plant {
  /** Identification number of the plant */
  id: bigint
}

export interface StoredPlant {
  /** Identification number of the plant */
  id: bigint
  /** The name of the plant: a string without U+0000 and lone surrogates, stored unchanged */
  name: string
  /** Absent if the plant has none, never null */
  tag?: string
  /** Time of creation (RFC 3339, UTC) */
  createdAt: string
  /** Time of the last write (RFC 3339, UTC) */
  updatedAt: string
}

export interface PlantUpdate {
  /** The name of the plant: a string without U+0000 and lone surrogates, stored unchanged */
  name?: string
  /** The new tag; null deletes it */
  tag?: string | null
}

export interface ImportReport {
  /** Plants created */
  created: number
  /** Plants replaced */
  replaced: number
  /** Rows skipped, because their id is already used */
  skipped: number
  /** Rows that failed */
  failed: number
  /** The first 1,000 failed rows */
  errors: ImportError[]
}

export interface ImportError {
  /** The line on which the row begins, from 1 */
  line: number
  /** The id of the row, if it has a valid one */
  id?: bigint
  /** Numeric error code */
  error: number
  /** What is wrong with the row */
  message: string
  /** The fields that fail validation. Absent if the row failed for another reason. */
  fields?: FieldError[]
}

export type ImportEvent =
  /** Progress: every row before `line` was stored, skipped or reported as failed */
  | {
      type: 'progress'
      line: number
      /** Plants created */
      created: number
      /** Plants replaced */
      replaced: number
      /** Rows skipped, because their id is already used */
      skipped: number
      /** Rows that failed */
      failed: number
    }
  /** A failed row */
  | {
      type: 'error'
      /** The line on which the row begins, from 1 */
      line: number
      /** The id of the row, if it has a valid one */
      id?: bigint
      /** Numeric error code */
      error: number
      /** What is wrong with the row */
      message: string
      /** The fields that fail validation. Absent if the row failed for another reason. */
      fields?: FieldError[]
    }
  /** The last line of an import that read every row */
  | {
      type: 'report'
      /** Plants created */
      created: number
      /** Plants replaced */
      replaced: number
      /** Rows skipped, because their id is already used */
      skipped: number
      /** Rows that failed */
      failed: number
    }
  /** The last line of an import that failed */
  | {
      type: 'failure'
      /** Numeric error code */
      error: number
      /** What ended the import */
      message: string
      /** The progress of the import when it failed */
      details: ErrorDetails
    }

export interface ImportCounts {
  /** Plants created */
  created: number
  /** Plants replaced */
  replaced: number
  /** Rows skipped, because their id is already used */
  skipped: number
  /** Rows that failed */
  failed: number
}

export interface TagCount {
  tag: string
  count: number
}

export interface DayCount {
  /** The day, from midnight to midnight UTC */
  day: string
  count: number
}

export interface Additions {
  /** The time at which the count began. It may or may not include later creates and deletes. */
  countedAt: string
  /** The days on which plants were created, in order. Days without any are omitted. */
  days: DayCount[]
}

export interface Token {
  /** The id of the token in the API. It is not a secret. */
  id: string
  /** What the token is for */
  label: string
  scopes: ('plants:read' | 'plants:write' | 'tokens:manage' | 'metrics:read')[]
  createdAt: string
  /** Absent if the token does not expire */
  expiresAt?: string
  /** To the minute. Absent if the token was never used. */
  lastUsedAt?: string
}

export interface NewToken {
  /** What the token is for */
  label?: string
  scopes: ('plants:read' | 'plants:write' | 'tokens:manage' | 'metrics:read')[]
  /** RFC 3339, in the future. Without it the token does not expire. */
  expiresAt?: string
}

export interface CreatedToken {
  /** The id of the token in the API. It is not a secret. */
  id: string
  /** What the token is for */
  label: string
  scopes: ('plants:read' | 'plants:write' | 'tokens:manage' | 'metrics:read')[]
  createdAt: string
  /** Absent if the token does not expire */
  expiresAt?: string
  /** To the minute. Absent if the token was never used. */
  lastUsedAt?: string
  /** The bearer token, returned only once. The service stores only its hash. */
  token: string
}

export interface Readiness {
  status: 'ready'
  /** The version of the service, with the commit of its build */
  version: string
  /** The database engine */
  engine: 'sqlite' | 'postgres'
  /** `failing` if the last commit failed, for example because the disk is full. Reads still work. */
  writes: 'working' | 'failing'
  /** Why writes fail, if it is known. `database-moved`: the database files were moved, removed or replaced. Reads come from the open files; exports are rejected. */
  reason?: 'database-moved'
}

export interface TokenRotation {
  /** The grace period: how long the old secret stays valid. 0 ends it at once. */
  graceSeconds?: number
}

export interface FieldError {
  /** The field; empty for the body or the row as a whole */
  name: string
  /** The rule that it violates */
  rule: 'required' | 'object' | 'array' | 'string' | 'integer' | 'int64' | 'well-formed' | 'single-line' | 'min' | 'max' | 'min-items' | 'max-items' | 'max-length' | 'one-of' | 'unique' | 'date-time' | 'future' | 'same-as-path' | 'unknown-member' | 'utf-8'
  /** The line of the row in an import */
  line?: number
}

export interface ErrorDetails {
  /** The fields that fail validation */
  fields?: FieldError[]
  /** The path, query or header parameter at fault */
  parameter?: string
  /** The setting of the service to change */
  setting?: string
  /** The line at which an import ended. Every row before it was stored, skipped or reported as failed. */
  line?: number
  /** The counts of an import for the rows before `line` */
  counts?: ImportCounts
  /** What a failed write stored: nothing (`none`), the rows of an import before `line` and none after (`stored-before-line`), or possibly anything (`unknown`) */
  outcome?: 'none' | 'stored-before-line' | 'unknown'
}
