import { importBlocks } from '../../actors/archive/import.ts'
import { indexedSource } from '../../actors/ingest/source.ts'
import { systemPorts } from '../../src/ports.ts'
import { ImportTools } from '../../src/archive/import-tools.ts'
import { openArchive } from '../../src/store/opening.ts'
import { scanRecorded } from '../../src/recorded/scan.ts'
import { configIn } from './recorded-market.ts'

/** Imports a folder, and kills itself when a number of blocks is committed. */
const [dataDir, folder, blocks] = process.argv.slice(2) as [string, string, string]
const config = configIn(dataDir)
const tools = new ImportTools(config, (text) => text)
let count = 0
tools.feed.follow(() => void (++count >= Number(blocks) && process.kill(process.pid, 'SIGKILL')))
const source = indexedSource(await scanRecorded(folder), systemPorts.clock)
await importBlocks(await openArchive(config), source, tools.deps, new AbortController().signal)
