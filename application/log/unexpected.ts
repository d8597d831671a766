/** Returns the error for a refusal that the sent command cannot cause. Such a refusal is a defect of the program. */
export const unexpected = (who: string, { _tag }: { readonly _tag: string }): Error =>
  new Error(`${who} refused with ${_tag}`)
