// login-form.js - a form for users who are not logged in.
import { h } from "./dom.js";

/** A form that shows the server's error messages at its fields. `extra` is shown above the button. */
export function form(fields, action, send, extra) {
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const submit = h("button.button.primary.wide", { type: "submit" }, action);
  return h(
    "form.stack",
    {
      novalidate: true,
      onsubmit: async (e) => {
        e.preventDefault();
        submit.disabled = true;
        problem.hidden = true;
        Object.values(fields).forEach((f) => f.problem(""));
        try {
          await send(Object.fromEntries(Object.entries(fields).map(([name, f]) => [name, f.control.value])));
        } catch (refusal) {
          let marked = false;
          for (const [name, f] of Object.entries(fields)) {
            const words = refusal.at?.(name);
            if (!words) continue;
            f.problem(words);
            if (!marked) f.control.focus();
            marked = true;
          }
          problem.hidden = marked;
          problem.textContent = refusal.message;
        }
        submit.disabled = false;
      },
    },
    Object.values(fields),
    extra,
    problem,
    submit,
  );
}

export const input = (props) => h("input", { required: true, ...props });
