import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { hashToken } from '../../../../src/tokens/token.ts'
import { temporaryFolder } from '../../../support/http/start-app.ts'
import { postgresMissing, startPostgres } from '../../../support/postgres/postgres-server.ts'
import { runPlantstore } from '../../../support/process/plantstore-process.ts'
import { openDatabase, sharePostgres } from '../temporary-database.ts'

/**
 * What Citus has under these names, as its documentation describes them: they write down how they are called,
 * and distribute nothing.
 */
const RECORDING_FUNCTIONS = `
  SET allow_system_table_mods = on;
  INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    VALUES (90000, 'citus', 10, 11, false, 'none');
  CREATE TABLE calls (number serial, call text);
  CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text, repmodel "char");
  CREATE FUNCTION column_to_column_name(regclass, text) RETURNS text STRICT LANGUAGE sql AS 'SELECT $2';
  CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE sql AS $$
    INSERT INTO calls (call) VALUES ('create_reference_table ' || table_name);
    INSERT INTO pg_dist_partition VALUES (table_name, 'n', NULL, 't') $$;
  CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text,
    distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default') RETURNS void LANGUAGE sql AS $$
    INSERT INTO calls (call) VALUES (
      concat_ws(' ', 'create_distributed_table', table_name, distribution_column, distribution_type, colocate_with));
    INSERT INTO pg_dist_partition VALUES (table_name, 'h', distribution_column, 's') $$;`

/** Unique indexes of distributed tables that lack the column, and what spans tables or counts for all of them. */
const UNFIT_FOR_CITUS = `
  SELECT indexrelid::regclass::text FROM pg_index
    JOIN (VALUES ('plants'::regclass, 'id'), ('idempotency_keys'::regclass, 'caller')) AS placed (rel, name)
      ON indrelid = rel
    WHERE indisunique AND NOT EXISTS (SELECT FROM pg_attribute
      WHERE attrelid = indrelid AND attname = name AND attnum = ANY (indkey::smallint[]))
  UNION ALL SELECT conname FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace
  UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace`

describe('migrate --shard', { skip: postgresMissing }, () => {
  const shared = sharePostgres()
  const nameIn = (url: string) => new URL(url).pathname.slice(1)

  test('fails with a one-line message if the database is not a cluster, and changes nothing', async (t) => {
    const url = await shared.server.createDatabase()
    const plain = await runPlantstore(t, ['migrate', '--shard', '--database', url])
    assert.equal(plain.code, 1)
    assert.match(
      plain.stderr,
      /^plantstore: The database lacks the extension citus\b[^\n]*Nothing was changed\.\n$/,
    )
    assert.equal(plain.stdout, '')
    const relations = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    assert.equal(await shared.server.query(relations, nameIn(url)), '0')

    const database = join(temporaryFolder(t), 'plants.db')
    const file = await runPlantstore(t, ['migrate', '--shard', '--database', database])
    assert.equal(file.code, 1)
    assert.match(file.stderr, /^plantstore: A SQLite file cannot be distributed[^\n]*\n$/)
    assert.ok(!existsSync(database))
  })

  test('calls the functions of Citus, here ones that only record the calls', async (t) => {
    const url = await shared.server.createDatabase()
    const query = (sql: string) => shared.server.query(sql, nameIn(url))
    await query(RECORDING_FUNCTIONS)
    const first = await runPlantstore(t, ['migrate', '--shard', '--database', url])
    assert.equal(first.code, 0, first.stderr)
    assert.match(
      first.stdout,
      /is up to date\. Distributed: migrations, tokens, idempotency_keys, plants\.\n$/,
    )
    const calls = await query('SELECT call FROM calls ORDER BY number')
    assert.deepEqual(calls.split('\n'), [
      'create_reference_table migrations',
      'create_reference_table tokens',
      'create_distributed_table idempotency_keys caller hash none',
      'create_distributed_table plants id hash none',
    ])

    const second = await runPlantstore(t, ['migrate', '--shard', '--database', url])
    assert.match(second.stdout, /is up to date\. Every table was already distributed\.\n$/)
    // As after a run that broke off.
    await query("DELETE FROM pg_dist_partition WHERE logicalrelid = 'plants'::regclass")
    const third = await runPlantstore(t, ['migrate', '--shard', '--database', url])
    assert.match(third.stdout, /Distributed: plants\.\n$/)
    assert.equal(await query('SELECT count(*) FROM calls'), '5')
  })

  test('makes imports insert rows, which Citus plans once, with the same outcome', async (t) => {
    const url = await shared.server.createDatabase()
    const query = (sql: string) => shared.server.query(sql, nameIn(url))
    await query(RECORDING_FUNCTIONS)
    await runPlantstore(t, ['migrate', '--shard', '--database', url])
    await query(`ALTER DATABASE ${nameIn(url)} SET log_statement = 'all'`)
    const { plants } = await openDatabase(t, url)
    await plants.create({ id: 1n, name: 'Rosa' })
    const rows = Array.from({ length: 900 }, (_, at) => ({ id: BigInt(at), name: `plant ${at}` }))
    const addAll = async (onConflict: 'keep' | 'replace', chunk: typeof rows) => {
      const opened = plants.openImport({ onConflict, dryRun: false })
      const outcomes = await opened.add(chunk)
      await opened.close()
      return outcomes
    }
    const kept = await addAll('keep', rows)
    assert.deepEqual([kept[0], kept[1], kept[899]], ['created', 'kept', 'created'])
    const replaced = await addAll('replace', [...rows, { id: 5_000n, name: 'Acer' }])
    assert.deepEqual([replaced[0], replaced[900]], ['replaced', 'created'])
    assert.equal((await plants.get(1n))?.name, 'plant 1')
    assert.match(shared.server.log, /INSERT INTO plants [^\n]* VALUES /)
    assert.doesNotMatch(shared.server.log, /unnest/)
  })

  test('fails with a one-line message before Citus would, and if tables are distributed otherwise', async (t) => {
    const url = await shared.server.createDatabase()
    const query = (sql: string) => shared.server.query(sql, nameIn(url))
    await query(RECORDING_FUNCTIONS)
    await query(`ALTER DATABASE ${nameIn(url)} SET citus.shard_replication_factor = 2`)
    const replicated = await runPlantstore(t, ['migrate', '--shard', '--database', url])
    assert.equal(replicated.code, 1)
    assert.match(
      replicated.stderr,
      /^plantstore: citus\.shard_replication_factor is 2, but must be 1[^\n]*\n$/,
    )
    assert.equal(await query("SELECT to_regclass('plants')"), '')

    await query(`ALTER DATABASE ${nameIn(url)} SET citus.shard_replication_factor = 1`)
    await runPlantstore(t, ['migrate', '--database', url])
    await query("SELECT create_distributed_table('plants', 'version')")
    const otherwise = await runPlantstore(t, ['migrate', '--shard', '--database', url])
    assert.equal(otherwise.code, 1)
    assert.match(
      otherwise.stderr,
      /^plantstore: The table plants is distributed by version, not distributed by id[^\n]*\n$/,
    )
    await query('DELETE FROM pg_dist_partition; DROP FUNCTION create_reference_table')
    const failing = await runPlantstore(t, ['migrate', '--shard', '--database', url])
    assert.equal(failing.code, 1)
    assert.match(failing.stderr, /^plantstore: Citus failed to distribute the table migrations: [^\n]*\n$/)
  })

  test('sends only statements that the documentation of Citus allows', async (t) => {
    const server = await startPostgres(t, { settings: { log_statement: 'all' } })
    const { plants, tokens } = await openDatabase(t, server.url())
    assert.equal(await server.query(UNFIT_FOR_CITUS), '')
    const key = { caller: 'greenhouse', key: 'key-1', fingerprint: 'body-1' }
    await plants.create({ id: 1n, name: 'Rosa' })
    await plants.create({ id: 2n, name: 'Rosa', tag: 'shrub' }, key)
    await plants.update(1n, { tag: 'shrub' })
    await plants.delete(2n)
    await plants.list({ limit: 10, words: ['rosa'], tag: 'shrub' })
    await plants.countTags(10)
    await tokens.create({ id: 'token-1', label: '', scopes: [], createdAtMs: 1 }, hashToken('one'))
    const statements = server.log
      .replaceAll('\n\t', ' ')
      .split('\n')
      .map(
        (line) =>
          /LOG: {2}(?:statement|execute [^:]*): (.*)/.exec(line)?.[1]?.replace(/\s+/g, ' ').trim() ?? '',
      )
    const some = (kind: RegExp) => {
      const found = statements.filter((statement) => kind.test(statement))
      assert.notEqual(found.length, 0, String(kind))
      return found
    }
    // Statements that lock or change a plant have its id, so that they go to one node.
    for (const one of some(/\bFOR (?:UPDATE|SHARE)\b/))
      assert.match(one, /FROM plants WHERE id = \$1 FOR UPDATE$/)
    for (const one of some(/^UPDATE plants/)) assert.match(one, / WHERE id = \$\d+$/)
    for (const one of some(/^DELETE FROM plants/)) assert.match(one, / WHERE id = \$1$/)
    // Rows as they are given: no subquery, no function whose result is another each time.
    for (const one of some(/^INSERT INTO (?:plants|idempotency_keys|tokens)/)) {
      assert.match(one, /^INSERT INTO \w+ \([\w, ]+\) VALUES (?:\((?:\$\d+,? ?)+\),?)+ ON CONFLICT/)
      assert.doesNotMatch(one, /SELECT|now\(\)|random/i)
    }
  })
})
