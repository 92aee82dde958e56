import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const CASSANDRA_VERSION = '5.0.6'

/** Java version of the options that it is started with; Cassandra 5.0 runs on Java 11 and 17. */
const JAVA_MAJOR = 17
const COPY_GOAL = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
const DOWNLOAD_WITHIN_MS = 240_000
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>millrace.tests</groupId>
  <artifactId>cassandra</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>${CASSANDRA_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`

export function javaCommand(): string {
  return process.env.JAVA_HOME === undefined ? 'java' : join(process.env.JAVA_HOME, 'bin/java')
}

let missing: string | undefined | null = null

/** Returns the reason why Cassandra cannot be started here, or undefined if it can. Checks once in a process. */
export function cassandraMissing(): string | undefined {
  if (missing === null) missing = whyMissing()
  return missing
}

function whyMissing(): string | undefined {
  if (process.platform === 'win32') return 'its signals are those of Unix'
  const java = spawnSync(javaCommand(), ['-version'], { encoding: 'utf8' })
  // Standard error has a line like `openjdk version "17.0.15" 2025-04-15`.
  const major = java.status === 0 ? /version "(\d+)/.exec(java.stderr)?.[1] : undefined
  if (Number(major) !== JAVA_MAJOR) return `there is no Java ${JAVA_MAJOR}${major ? ` but ${major}` : ''}`
  if (!existsSync(jarsFolder()) && spawnSync('mvn', ['--version']).status !== 0)
    return 'there is no Maven (mvn)'
  return undefined
}

/** Returns the folder that caches the jars between runs: TEST_SERVERS_CACHE, or a folder in the user's cache. */
function cacheFolder(): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  return process.env.TEST_SERVERS_CACHE ?? join(cache, 'millrace-tests')
}

function jarsFolder(): string {
  return join(cacheFolder(), `cassandra-${CASSANDRA_VERSION}`)
}

/** Returns the folder of Cassandra's jars. Maven downloads them if they are missing (66 MB, once per machine). */
export async function cassandraJars(): Promise<string> {
  const folder = jarsFolder()
  if (existsSync(folder)) return folder
  await mkdir(cacheFolder(), { recursive: true })
  const work = await mkdtemp(join(cacheFolder(), 'fetching-'))
  try {
    await writeFile(join(work, 'pom.xml'), POM)
    await promisify(execFile)(
      'mvn',
      ['-q', '-B', COPY_GOAL, '-DoutputDirectory=lib', '-DincludeScope=runtime'],
      { cwd: work, timeout: DOWNLOAD_WITHIN_MS }
    )
    // The rename is atomic; of two simultaneous downloads the first one stays.
    await rename(join(work, 'lib'), folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return folder
}
