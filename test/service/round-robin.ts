import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { Agent } from 'undici'

/** Milliseconds for which an answer of `/ready` counts. A request never goes to a process that said so longer ago. */
const READY_MS = 1_000
/** Maximum probes of `/ready` that may be lost one after another before a process counts as gone. */
const PROBES = 2

interface Backend {
  readonly url: string
  readonly agent: Agent
  isReady: boolean
  /** Its last answer of `/ready`, or the error. */
  said: string
  askedAtMs: number
}

/**
 * A balancer as operators run it: it sends requests to the processes that say on `/ready` that they are ready, in turn, over
 * connections that it reuses, and repeats none of them.
 */
export class RoundRobin {
  readonly #server: Server
  readonly #backends: Backend[] = []
  #next = 0
  /** Requests that found no connection, or lost it before the answer. */
  refused = 0
  /** Answers of each process. */
  readonly answers = new Map<string, number>()

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#forward(request.url!, request.headers['x-api-key']).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      })
    })
  }

  static async start(t: Test): Promise<RoundRobin> {
    const balancer = new RoundRobin()
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve))
    t.teardown(async () => {
      balancer.#server.closeAllConnections()
      balancer.#server.close()
      await Promise.all(balancer.#backends.map(({ agent }) => agent.close()))
    })
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  add(url: string): void {
    this.#backends.push({
      url,
      agent: new Agent({ connections: 4 }),
      isReady: false,
      said: 'nothing',
      askedAtMs: -Infinity
    })
  }

  async #forward(path: string, key: unknown): Promise<{ readonly status: number; readonly body: string }> {
    // A process that is added meanwhile would shift the turns, and one would be passed over.
    const backends = [...this.#backends]
    const first = this.#next++
    const said: string[] = []
    for (let tries = 0; tries < backends.length; tries++) {
      const backend = backends[(first + tries) % backends.length]!
      if (!(await this.#isReady(backend))) {
        // Another request may ask again meanwhile.
        said.push(`${backend.url} said ${backend.said}`)
        continue
      }
      try {
        const answer = await backend.agent.request({
          origin: backend.url,
          path,
          method: 'GET',
          headers: { 'x-api-key': String(key) }
        })
        const body = await answer.body.text()
        this.answers.set(backend.url, (this.answers.get(backend.url) ?? 0) + 1)
        return { status: answer.statusCode, body }
      } catch (error) {
        this.refused++
        return { status: 502, body: JSON.stringify({ code: String((error as { code?: string }).code) }) }
      }
    }
    return { status: 502, body: JSON.stringify({ code: `no process is ready: ${said.join(', ')}` }) }
  }

  async #isReady(backend: Backend): Promise<boolean> {
    if (backend.isReady && performance.now() - backend.askedAtMs < READY_MS) return true
    const askedAtMs = performance.now()
    // A process may close an idle connection while the probe is on its way, so a lost probe is repeated, as balancers do.
    for (let tries = 1; tries <= PROBES; tries++)
      try {
        const answer = await fetch(`${backend.url}/ready`)
        backend.said = `${answer.status} ${await answer.text()}`
        backend.isReady = answer.status === 200
        break
      } catch (error) {
        backend.said = String((error as Error).cause ?? error)
        backend.isReady = false
      }
    backend.askedAtMs = askedAtMs
    return backend.isReady
  }
}
