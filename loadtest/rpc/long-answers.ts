import { Agent, request } from 'node:http'

interface Load {
  readonly connections: number
  readonly seconds: number
}

/** Bytes of blocks that were read, in millions. */
export interface ReadMegabytes {
  readonly megabytes: number
  readonly perSecond: number
}

/** Reads getBlock answers in a closed loop. Throws for an answer that is not whole. */
export async function readBlocks(url: string, bytesMin: number, load: Load): Promise<ReadMegabytes> {
  const { bytes, took } = await read(url, bytesMin, load)
  return { megabytes: bytes / 1e6, perSecond: bytes / took / 1e6 }
}

/** Reads getBlock answers in a closed loop, and returns their number. Throws for an answer that is not whole. */
export async function countBlocks(url: string, bytesMin: number, load: Load): Promise<number> {
  return (await read(url, bytesMin, load)).blocks
}

async function read(url: string, bytesMin: number, { connections, seconds }: Load) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const startedMs = performance.now()
  let bytes = 0
  let blocks = 0
  const loops = Array.from({ length: connections }, async () => {
    while (performance.now() - startedMs < seconds * 1_000) {
      const size = await readBlock(url, agent)
      if (size < bytesMin) throw new Error(`${size} bytes`)
      bytes += size
      blocks++
    }
  })
  await Promise.all(loops)
  const took = (performance.now() - startedMs) / 1_000
  agent.destroy()
  return { bytes, blocks, took }
}

function readBlock(url: string, agent: Agent): Promise<number> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[300000000]}'
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const asked = request(url, { method: 'POST', agent, headers }, (answer) => {
      let size = 0
      let last: Buffer = Buffer.alloc(0)
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        last = chunk
      })
      answer.on('error', reject)
      answer.on('end', () => {
        if (last.toString('latin1').endsWith('"id":1}')) resolve(size)
        else reject(new Error('the block does not end as it should'))
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
