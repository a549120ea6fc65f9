"""What a task rests on, as one record that models, rules, people and judges of attempts read."""
