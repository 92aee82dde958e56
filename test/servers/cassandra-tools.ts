import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { javaCommand } from './cassandra-jars.ts'
import { MODULES } from './cassandra-node.ts'
import type { CqlCluster } from './cql-cluster.ts'

/** Heap of a tool; its own default would be a quarter of the machine. */
const HEAP = '128m'

/**
 * Writes the commands `nodetool` and `cqlsh` into a folder: the first is Cassandra's own, for the only node of a cluster. Of
 * the second, which is not among its jars, there is what operators need here: `-e STATEMENT` and `-f FILE`.
 */
export function writeCassandraTools({ nodes, port }: CqlCluster, folder: string): void {
  const [{ jmxPort, jars, address }] = nodes as [CqlCluster['nodes'][number]]
  if (jmxPort === null) throw new Error('the node has no port for its tools')
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const options = [`-Xmx${HEAP}`, '-XX:TieredStopAtLevel=1', `-Duser.home='${home}'`, ...MODULES]
  const java = `${javaCommand()} ${options.join(' ')} -cp '${join(jars, '*')}'`
  writeCommand(
    join(folder, 'nodetool'),
    `exec ${java} org.apache.cassandra.tools.NodeTool -h ${address} -p ${jmxPort} "$@"`
  )
  writeCommand(
    join(folder, 'cqlsh'),
    `exec '${process.execPath}' '${join(import.meta.dirname, 'cqlsh.ts')}' ${address} ${port} "$@"`
  )
}

/** Writes a command of a shell. */
export function writeCommand(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}
