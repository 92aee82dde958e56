/**
 * Replaces the package by which node-tap learns of uncaught errors. That package follows each promise by hooks, which costs
 * as much as two fifths of a file's CPU time. This replacement follows the async context, which costs nothing.
 */
import { AsyncLocalStorage, executionAsyncResource, type AsyncResource } from 'node:async_hooks'
import { registerHooks } from 'node:module'

type OnError = (error: unknown, origin: NodeJS.UncaughtExceptionOrigin) => void

const contexts = new AsyncLocalStorage<Domain>()
const alive = new Set<Domain>()

/** A test, as `async-hook-domain` names it: it gets the errors of all work that began in it. */
export class Domain {
  readonly onerror: OnError
  readonly #parent = contexts.getStore()

  constructor(onerror: OnError) {
    this.onerror = onerror
    if (alive.size === 0) process.on('uncaughtException', tell)
    alive.add(this)
    // A test makes its domain, and runs, in the scope of its own resource.
    const scope = executionAsyncResource() as AsyncResource
    const run = scope.runInAsyncScope?.bind(scope)
    if (run !== undefined)
      scope.runInAsyncScope = (act, thisArg, ...args) =>
        run(() => contexts.run(this, () => act.call(thisArg!, ...(args as never[]))))
  }

  destroy(): void {
    if (alive.delete(this) && alive.size === 0) process.off('uncaughtException', tell)
  }

  /** The test itself while it runs, otherwise the innermost one around it. */
  get running(): Domain | undefined {
    return alive.has(this) ? this : this.#parent?.running
  }
}

const tell: OnError = (error, origin) => {
  const [outermost] = alive
  const domain = contexts.getStore()?.running ?? outermost!
  domain.onerror(error, origin)
}

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'async-hook-domain'
      ? { url: import.meta.url, shortCircuit: true }
      : next(specifier, context)
})
