import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { cassandraMissing } from './cassandra-jars.ts'
import { CQL_DATACENTER, CqlCluster, type CqlClusterOptions } from './cql-cluster.ts'
import { notRun } from './not-run.ts'
import { sharedCql } from './shared-cql.ts'

/** A CQL server that other tests use concurrently: each test creates its own keyspaces. */
export interface CqlServer {
  /** Addresses of some of its nodes, `address:port`. */
  readonly contactPoints: readonly string[]
  /** The port of every node. */
  readonly port: number
  readonly datacenter: string
  /** Present if the server of the environment requires them. */
  readonly credentials?: { readonly username: string; readonly password: string }
  /** Whether the server ends with the run, so that tables left there disturb no other test. False by default. */
  readonly endsWithRun?: boolean
}

/** Returns the server of the environment: CQL_CONTACT_POINTS=host:port,…, with a datacenter, a name and a password. */
function cqlOfEnvironment(): CqlServer | undefined {
  const { CQL_CONTACT_POINTS, CQL_DATACENTER: datacenter, CQL_USERNAME, CQL_PASSWORD } = process.env
  if (CQL_CONTACT_POINTS === undefined) return undefined
  return {
    ...serverAt(CQL_CONTACT_POINTS.split(',')),
    ...(datacenter !== undefined && { datacenter }),
    ...(CQL_USERNAME !== undefined && {
      credentials: { username: CQL_USERNAME, password: CQL_PASSWORD ?? '' }
    })
  }
}

function serverAt(contactPoints: readonly string[]): CqlServer {
  const port = Number(/:(\d+)$/.exec(contactPoints[0] ?? '')?.[1] ?? 9042)
  return { contactPoints, port, datacenter: CQL_DATACENTER }
}

/** Returns the reason why tests have no CQL server, or undefined if they have one. */
export function cqlMissing(): string | undefined {
  if (process.env.CQL_CONTACT_POINTS !== undefined) return undefined
  const why = cassandraMissing()
  return why && `${why}, and CQL_CONTACT_POINTS names no CQL server`
}

/** Returns the CQL server for tests: that of the environment, or one that all test files of a run share. */
export async function cqlServer(): Promise<CqlServer> {
  const given = cqlOfEnvironment()
  if (given !== undefined) return given
  // A copy of the house has its own tables.
  return { ...serverAt(await sharedCql()), endsWithRun: process.env['SHARED_CQL_OF'] === undefined }
}

/** Declares a test that talks to a real CQL server. Without one it is reported as not run, and fails if CI is set. */
export function testWithCql(t: Test, name: string, run: (t: Test, server: CqlServer) => unknown): void {
  const why = cqlMissing()
  if (why !== undefined) return notRun(t, name, why)
  void t.test(name, async (t) => {
    await run(t, await cqlServer())
  })
}

/**
 * Declares a test with its own CQL nodes, to kill and to pause. A server of the environment is not used for that. If none
 * can be started, the test is reported as not run, and fails if CI is set.
 */
export function testWithCqlCluster(
  t: Test,
  name: string,
  options: CqlClusterOptions,
  run: (t: Test, cluster: CqlCluster) => unknown
): void {
  const why = cassandraMissing()
  if (why !== undefined) return notRun(t, name, why)
  void t.test(name, async (t) => {
    const cluster = await CqlCluster.start(options)
    t.teardown(() => cluster.end())
    await run(t, cluster)
  })
}

/** Returns the name of a keyspace that no other test uses. The caller drops the keyspace. */
export function newKeyspaceName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}
