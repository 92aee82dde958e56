export interface LocalnetFigures {
  /** The newest confirmed slot of the chain. */
  readonly chainSlot: number
  /** The newest slot of the index. */
  readonly headSlot: number
  readonly heapBytes: number
  readonly externalBytes: number
}

interface Unit {
  readonly name: string
  readonly gauges: Readonly<Record<string, number>>
  readonly children: readonly Unit[]
}

/** Reads the state of a service on a localnet: the chain's and the index's newest slot, and memory in bytes. */
export async function localnetFigures(url: string, key: string): Promise<LocalnetFigures> {
  const ask = (path: string): Promise<Response> => asked(url + path, key)
  const answers = await Promise.all(['/v1/health', '/v1/admin/tree', '/metrics'].map((path) => ask(path)))
  const [health, tree] = await Promise.all(answers.slice(0, 2).map((answer) => answer.json()))
  const metrics = await answers[2]!.text()
  const metric = (name: string): number =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1]
    )
  return {
    chainSlot: unit(tree as Unit, 'localnet')?.gauges['confirmed_slot'] ?? -1,
    headSlot: (health as { slot: number | null }).slot ?? -1,
    heapBytes: metric('nodejs_heap_size_used_bytes'),
    externalBytes: metric('nodejs_external_memory_bytes')
  }
}

async function asked(url: string, key: string): Promise<Response> {
  const answer = await fetch(url, { headers: { 'x-api-key': key } })
  if (answer.ok) return answer
  throw new Error(`${url} returned ${answer.status}: ${await answer.text()}`)
}

function unit(tree: Unit, name: string): Unit | null {
  if (tree.name === name) return tree
  for (const child of tree.children) {
    const found = unit(child, name)
    if (found !== null) return found
  }
  return null
}
