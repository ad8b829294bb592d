// Written by `backsight install opencode`. Tells Backsight about prompts and tools; never stops one.
import { spawn } from "node:child_process"

const PROGRAM = "backsight"

export const Backsight = async ({ directory, client }) => {
  const messages = new Map()
  // A subagent works in a session of its own; what it does belongs to the message that started it.
  const parents = new Map()
  const rootOf = (session) => {
    for (let steps = 0; parents.has(session) && steps < 100; steps++) session = parents.get(session)
    return session
  }
  // Tools that began and have not ended. An interrupted one ends after its session has said that it is idle.
  const running = new Map()
  // What the user was asked about, and when a tool was allowed: what was written before is not the tool's.
  const asked = new Map()
  const allowed = new Map()
  // A tool that ends while the user is still asked never ran.
  const answer = (callID) => ({ allowed: allowed.get(callID), waiting: [...asked.values()].includes(callID) })
  const ended = (callID) => {
    running.delete(callID)
    allowed.delete(callID)
    for (const [id, call] of asked) if (call === callID) asked.delete(id)
  }
  const say = (message) =>
    client.app.log({ body: { service: "backsight", level: "warn", message } }).catch(() => {})
  const tell = (hook_event_name, input) =>
    new Promise((resolve) => {
      const sessionID = rootOf(input.sessionID)
      const payload = { hook_event_name, directory, input: { ...input, sessionID }, messageID: messages.get(sessionID) }
      const hook = spawn(PROGRAM, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"], timeout: 30000 })
      let answer = ""
      hook.stdout.on("data", (chunk) => (answer += chunk))
      hook.on("error", resolve)
      hook.stdin.on("error", () => {})
      hook.on("close", () => {
        try {
          const { message } = JSON.parse(answer)
          if (message) say(message)
        } catch {}
        resolve()
      })
      hook.stdin.end(JSON.stringify(payload))
    })
  const isRunning = (session) => [...running.values()].includes(session)
  return {
    "chat.message": async (input, output) => {
      if (parents.has(input.sessionID)) return
      messages.set(input.sessionID, input.messageID ?? output.message?.id)
      const prompt = output.parts?.find((part) => part.type === "text" && !part.synthetic)?.text?.slice(0, 8192)
      await tell("chat.message", { sessionID: input.sessionID, prompt })
    },
    "tool.execute.before": (input, output) => {
      running.set(input.callID, rootOf(input.sessionID))
      return tell("tool.execute.before", { ...input, args: output.args })
    },
    "tool.execute.after": async (input, output) => {
      await tell("tool.execute.after", { ...input, exit: output?.metadata?.exit, ...answer(input.callID) })
      ended(input.callID)
    },
    event: async ({ event: { type, properties } }) => {
      const part = properties?.part
      const sessionID = properties?.sessionID ?? properties?.info?.id
      if (type === "session.created" && properties.info?.parentID) {
        parents.set(sessionID, properties.info.parentID)
      } else if (type === "session.created" || type === "session.deleted") {
        if (!parents.has(sessionID)) await tell(type, { sessionID })
      } else if (type === "session.idle" || type === "session.error") {
        if (sessionID && !parents.has(sessionID)) await tell(type, { sessionID, running: isRunning(sessionID) })
      } else if (type === "permission.asked" || type === "permission.updated") {
        const { id, tool, callID } = properties
        asked.set(id, tool?.callID ?? callID)
      } else if (type === "permission.replied") {
        const id = properties.requestID ?? properties.permissionID
        if (asked.get(id)) allowed.set(asked.get(id), Date.now())
        asked.delete(id)
      } else if (type === "message.part.updated" && part?.type === "tool" && part.state?.status === "error") {
        const { tool, callID, state } = part
        const told = { tool, sessionID: part.sessionID, callID, args: state.input, error: state.error }
        await tell("tool.execute.error", { ...told, ...answer(callID) })
        ended(callID)
      }
    },
  }
}
