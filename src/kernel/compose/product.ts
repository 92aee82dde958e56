import type { FastifyPluginAsync } from 'fastify'
import type { Registry } from 'prom-client'
import type { Run } from '../../../actors/supervision/process.ts'
import { supervisor, type Unit } from '../../../actors/supervision/unit.ts'
import type { ClusterCoordination } from '../../../storage/cluster/coordination.ts'
import type { Storage } from '../../../storage/port.ts'
import type { FirstKeys } from '../../access/bootstrap.ts'
import type { TreeBody } from '../../edge/bodies/tree.ts'
import type { Capability } from './capability.ts'
import { Handle } from './handle.ts'
import { inPublishedOrder } from './published-order.ts'
import type { Config } from '../config/config.ts'
import type { ErrorKind } from '../error-kind.ts'
import { ERRORS } from '../errors.ts'
import type { MemoryBudget } from '../config/memory-budget.ts'
import type { HttpParts, HttpSide, InFront } from '../http/http-kernel.ts'
import type { SocketRoute } from '../http/serve-socket.ts'
import type { BlockSource } from '../../node/block-source.ts'
import type { SourceStatus } from '../../node/source-status.ts'
import type { Ports } from '../../ports.ts'
import type { Turns } from '../work/turns.ts'
import type { ChannelForm } from '../../stream/channel.ts'
import type { DecodingReport } from '../../ingest/decoding-report.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { CommitFeed } from '../feed/commit-feed.ts'
import type { Opened } from '../../store/opening.ts'
import type { Role, Work } from '../../fleet/work.ts'

export type ListedProduct = Config['products'][number]

/** Work that requests of a product leave to be done after the answer (`leavesWork` of an endpoint). */
export interface ProductWork extends Work {
  /** Whether a process with the role does the work; by default it does. */
  readonly isDone?: (kernel: Kernel) => boolean
}

/** A product: the processes that have it, and everything that it adds to them. */
export interface Product {
  readonly name: string
  /** A process has the product if it has one of these roles. A gateway may be without it (`listedAs`). */
  readonly roles: readonly Role[]
  /** The name by which `MILLRACE_PRODUCTS` gives it to a gateway; every gateway has a product without one. */
  readonly listedAs?: ListedProduct
  /** The listed products without which a gateway would answer differently from others. */
  readonly needs?: readonly ListedProduct[]
  /** The work that its requests leave to be done after the answer. While nobody does it they are refused with ROLE_MISSING. */
  readonly work?: ProductWork
  /**
   * Units of the process tree, in the order of their start. They are siblings of other products' units, and get the
   * resources of other products by handles.
   */
  readonly units?: (kernel: Kernel) => readonly Unit<Spine>[]
  /**
   * Routes of the HTTP side, from what they need. Called once, for the capabilities that they use; the returned function is
   * called at each start of the HTTP side.
   */
  readonly routes?: (kernel: Kernel) => (side: HttpSide, given: Spine) => readonly FastifyPluginAsync[]
  /** The WebSocket of the product; null in a process that does not serve it. */
  readonly socket?: (kernel: Kernel) => SocketRoute | null
  /** Names of response headers that pages of other origins may read. */
  readonly exposed?: readonly string[]
  /** Answers some requests without the framework. */
  readonly inFront?: (kernel: Kernel) => InFront
  /** Errors that it raises, other than those of the kernel and of other products. */
  readonly errors?: Readonly<Record<string, ErrorKind>>
  /** Channels of the stream. */
  readonly channels?: readonly ChannelForm[]
  /** Its groups of metrics. Each process has those of all products, so that dashboards find every name everywhere. */
  readonly metrics?: readonly Capability<Kernel, unknown>[]
}

/** The resources that every unit of a product gets from outside. A restart of the store restarts all of these units. */
export interface Spine {
  readonly storage: Storage
  /** Absent with a store that cannot be shared with other processes. */
  readonly peers?: ClusterCoordination
}

/** The objects that every product of a process has. All others come from the capabilities of products. */
export interface Kernel {
  readonly config: Config
  readonly ports: Ports
  readonly logger: Logger
  readonly version: string
  readonly metrics: Metrics
  readonly decoding: DecodingReport
  readonly budget: MemoryBudget
  readonly feed: CommitFeed
  /** Turns of tenants for the work of this process. */
  readonly turns: Turns
  /** Returns what another product gives. */
  readonly get: <T>(capability: Capability<Kernel, T>) => T
  /** The products of this process. */
  readonly products: readonly Product[]
  /** The work of all products, those of other processes too. */
  readonly works: readonly ProductWork[]
  /** Every error of the service, those of other processes too. */
  readonly errors: readonly ErrorKind[]
  /** The coordination of a process that shares its store with no other. */
  readonly soloCoordination: ClusterCoordination
  /** Resources that are already open, for the first instances of the units that own them. */
  readonly opened: Opened | undefined
  /** Replaces the configured source. */
  readonly source: Run<unknown, BlockSource> | undefined
  /** The process tree, and the status of the block source. */
  readonly tree: () => TreeBody
  readonly sourceStatus: () => SourceStatus | null
  readonly onFirstKeys: (keys: FirstKeys) => void
  /** Called with the URL of the localnet's node. */
  readonly onLocalnet: (rpcUrl: string) => void
  /** Whether other processes listen on the port of this one. */
  readonly isPortShared: boolean
  /** Resolves once the HTTP side has listened. */
  readonly listening: Promise<void>
  readonly onListening: (port: number) => void
}

/** Declares what a product gives. `make` may use other capabilities. */
export const capability = <T>(make: (kernel: Kernel) => T): Capability<Kernel, T> => ({ make })

/** Declares a resource of a unit, which others use by a handle. `what` names it in refusals. */
export const resource = <T>(what: string): Capability<Kernel, Handle<T>> =>
  capability(() => new Handle<T>(what))

/** Declares a group of metrics, which its product lists and its units count in. */
export const metricGroup = <T>(make: (registry: Registry, kernel: Kernel) => T): Capability<Kernel, T> =>
  capability((kernel) => make(kernel.metrics.registry, kernel))

/** Returns a unit whose crash restarts no other. Its resources, if others need them, are given by handles. */
export const beside = <Needs>(name: string, ...units: readonly Unit<Needs>[]): Unit<Needs> =>
  supervisor(name, 'one_for_one', units)

/** Returns the additions of a process's products to the HTTP side. */
export function httpPartsOf(kernel: Kernel): (given: Spine) => HttpParts {
  const { products } = kernel
  const routes = products.flatMap(({ routes, work }) => {
    const made = routes?.(kernel)
    return made === undefined ? [] : [{ made, work }]
  })
  const sockets = products.flatMap((product) => product.socket?.(kernel) ?? [])
  const exposed = products.flatMap((product) => product.exposed ?? [])
  const inFront = products.flatMap((product) => product.inFront?.(kernel) ?? [])
  return (given) => ({
    routes: (side) =>
      routes.flatMap(({ made, work }) =>
        made(side, given).map((plugin) => refusingAbsence(plugin, side, work))
      ),
    ...{ sockets, exposed, inFront }
  })
}

/** Returns the work of some products, each once. */
export const worksOf = (products: readonly Product[]): readonly ProductWork[] => [
  ...new Set(products.flatMap(({ work }) => work ?? []))
]

/** Returns a plugin whose routes that leave work refuse requests while nobody does it. */
function refusingAbsence(
  plugin: FastifyPluginAsync,
  { absence = () => null }: HttpSide,
  work: ProductWork | undefined
): FastifyPluginAsync {
  return async (app, options) => {
    app.addHook('onRoute', (route) => {
      if (route.config?.leavesWork !== true) return
      if (work === undefined)
        throw new TypeError(`${route.url} leaves work, and its product does not state which`)
      route.preHandler = (_request, _reply, done) => done(absence(work) ?? undefined)
    })
    await plugin(app, options)
  }
}

/** Returns the errors of the kernel and of some products, in the order of the documents that list them. */
export const errorsOf = (products: readonly Product[]): readonly ErrorKind[] =>
  inPublishedOrder([
    ...Object.values(ERRORS),
    ...products.flatMap(({ errors = {} }) => Object.values(errors))
  ])

/** Returns the products of a process with the given roles. As a gateway it has only those that are listed. */
export const productsOf = (
  products: readonly Product[],
  { role, products: listed }: Pick<Config, 'role'> & Partial<Pick<Config, 'products'>>
): readonly Product[] =>
  products.filter(({ roles, listedAs }) => {
    const isServed = listed === undefined || listedAs === undefined || listed.includes(listedAs)
    return roles.some((each) => role.includes(each) && (each !== 'gateway' || isServed))
  })

/** Returns why a gateway cannot have the listed products alone, in a line that names those that are missing; null if it can. */
export function listRefusal(
  products: readonly Product[],
  { role, products: listed }: Pick<Config, 'role' | 'products'>
): string | null {
  if (!role.includes('gateway')) return null
  for (const { listedAs, needs = [] } of products) {
    if (listedAs === undefined || !listed.includes(listedAs)) continue
    const missing = needs.filter((each) => !listed.includes(each))
    if (missing.length > 0)
      return `MILLRACE_PRODUCTS=${listed.join(',')} lists ${listedAs}, which needs ${missing.join(' and ')}; list ${missing.length === 1 ? 'it' : 'them'} too, or leave out ${listedAs}`
  }
  return null
}

/** Returns the coordination with the other processes of the service. */
export const coordinationOf = (
  { soloCoordination }: Kernel,
  { peers = soloCoordination }: Pick<Spine, 'peers'>
): ClusterCoordination => peers

/** Returns a function that opens a resource. The first call returns `opened`, if given. */
export function firstOf<T>(opened: T | undefined, open: () => Promise<T>): () => Promise<T> {
  let left = opened
  return async () => {
    const first = left
    left = undefined
    return first ?? open()
  }
}
