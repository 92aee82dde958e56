import { slowHeapGrowth } from './small-heap.ts'
import { allocateYoung } from './young-allocation.ts'

/**
 * Sets V8's heap for a process that serves, once it listens, unless the operator's Node flags do. Load tests that run the product in
 * a process of their own set it too.
 */
export function setServingHeap(isTight: boolean): void {
  slowHeapGrowth(isTight)
  allocateYoung()
}
