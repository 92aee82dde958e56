import type { Caller } from '../access/caller.ts'
import type { MethodTable, RpcMethod } from './methods.ts'
import type { RequestElement, RequestedCall } from './requests.ts'
import { requiredState } from './required-state.ts'
import {
  methodNotFound,
  methodRejected,
  NO_NODE,
  NOT_PROCESSED,
  scopeMissing,
  type Refusal
} from './rpc-error.ts'
import type { SharedReads } from './shared-reads.ts'
import type { SlotFloors } from './slot-floors.ts'
import type { UpstreamCall } from './upstreams.ts'

/** Route of an element's answer: refused, by this process, or by a node. */
export type ElementPlan =
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly id: string | null }
  | { readonly kind: 'here'; readonly call: RequestedCall; readonly method: RpcMethod }
  | NodePlan

interface NodePlan {
  readonly kind: 'node'
  readonly call: RequestedCall
  readonly upstream: UpstreamCall
  readonly reads: SharedReads
}

/** The parts of a process that a plan depends on. */
export interface PlanNeeds {
  readonly methods: MethodTable
  /** Null in a process without a node. */
  readonly reads: SharedReads | null
  readonly floors: SlotFloors
}

/** Decides the route of an element's answer: by its method, the scopes of the caller and the state that it requires. */
export function planElement(element: RequestElement, caller: Caller, needs: PlanNeeds): ElementPlan {
  if (element.kind === 'invalid') return { kind: 'refused', refusal: element.refusal, id: element.id }
  const { id } = element
  const found = needs.methods.find(element.method)
  if (found.kind === 'unknown') return { kind: 'refused', refusal: methodNotFound(element.method), id }
  if (found.kind === 'rejected')
    return { kind: 'refused', refusal: methodRejected(element.method, found.see), id }
  const { method } = found
  if (!caller.scopes.includes(method.scope))
    return { kind: 'refused', refusal: scopeMissing(method.scope), id }
  // A local method's refusals name the field.
  if (method.isLocal) return { kind: 'here', call: element, method }
  return planNodeCall(element, method, caller, needs)
}

/** Plans a call that a node answers, no earlier than at the slot that the caller's key has already seen. */
export function planNodeCall(
  call: RequestedCall,
  method: RpcMethod,
  caller: Caller,
  { reads, floors }: PlanNeeds
): ElementPlan {
  const { commitment, minContextSlot } = requiredState(method, call.paramsValue)
  // A local method that leaves a call to a node has judged its params.
  if (method.refusesProcessed && commitment === 'processed' && !method.isLocal)
    return { kind: 'refused', refusal: NOT_PROCESSED, id: call.id }
  if (reads === null) return { kind: 'refused', refusal: NO_NODE, id: call.id }
  const floor =
    method.slot === 'none' && method.cache !== 'by-slot'
      ? 0
      : floors.of(caller.keyId, commitment, reads.reached(commitment))
  const minSlot = Math.max(minContextSlot, floor)
  const upstream = { method, params: call.params, commitment, minSlot, minContextSlot }
  return { kind: 'node', call, upstream, reads }
}
